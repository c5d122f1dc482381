from ...base import opencv
from .shared.base import KIND, AreaCrop, SideOrNone
from .shared.stored import Stored


@KIND.register(title="The first study's released code")
class Released(AreaCrop):
    """The first study's released code: a window of 8 to 100 % of the area and 3:4 to 4:3, resized to 224 by one of
    OpenCV's five interpolations at random, and a flip; in test the shorter side to 256 and the centre 224.

    squash: the code cuts windows from images squashed to 256 x 256 first where batches are drawn by class (N-pairs,
        angular, margin, prototypical, ranked list), and from images as they are (0) where they are shuffled.
    squash_test: test images are squashed too, instead. Its DREML has squash 246 and this.
    size: height and width of the crop, in pixels.
    """

    interpolations = tuple(opencv.INTERPOLATIONS)

    squash: SideOrNone = 256
    squash_test: bool = False

    def __post_init__(self) -> None:
        self.test_size = self.size
        self.require(self.squash or not self.squash_test, "squash_test needs a size to squash to.")
        self.stored = Stored("squash", self.squash) if self.squash else Stored("none")
        self.stored_for_test = self.stored if self.squash_test else Stored("short", 256)
