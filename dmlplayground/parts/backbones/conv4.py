from .shared.base import KIND, Preprocessing


@KIND.register(
    title="Four convolutions, for a CPU",
    features=128,
    parameters=241_184,
    preprocessing=Preprocessing(size=64, mean=(127.5, 127.5, 127.5), std=(64.0, 64.0, 64.0)),
)
def build():
    """Four blocks of 3 x 3 convolution, batch-norm, relu and pooling: seconds, not hours, on one core. For
    images of 32 to 64 pixels; there are no trained weights for it."""
    from mxnet.gluon import nn

    network = nn.HybridSequential()
    with network.name_scope():
        network.add(
            nn.Conv2D(32, 3, strides=2, padding=1, use_bias=False, in_channels=3),
            nn.BatchNorm(in_channels=32),
            nn.Activation("relu"),
        )
        for channels, inputs in ((64, 32), (128, 64), (128, 128)):
            network.add(
                nn.MaxPool2D(2),
                nn.Conv2D(channels, 3, padding=1, use_bias=False, in_channels=inputs),
                nn.BatchNorm(in_channels=channels),
                nn.Activation("relu"),
            )
        network.add(nn.GlobalAvgPool2D(), nn.Flatten())
    return network
