"""What this project asks of MXNet works, on whatever Python and NumPy this is.

Needs MXNet, NumPy and pytest alone: test_compat_interpreters.py runs it under every Python it finds.
"""

import subprocess
import sys

import mxnet as mx
import numpy as np
import pytest
from mxnet import autograd, gluon


def small_net():
    net = gluon.nn.HybridSequential()
    net.add(
        gluon.nn.Conv2D(4, 3, in_channels=3), gluon.nn.BatchNorm(in_channels=4), gluon.nn.GlobalAvgPool2D()
    )
    net.add(gluon.nn.Flatten(), gluon.nn.Dense(2, in_units=4))
    net.initialize(mx.init.Xavier())
    net.hybridize(static_alloc=True, static_shape=True)
    return net


def images(seed=0):
    return mx.nd.array(np.random.default_rng(seed).normal(size=(4, 3, 8, 8)))


def step(net, trainer):
    with autograd.record():
        loss = (net(images()) ** 2).mean()
    loss.backward()
    trainer.step(1)
    return loss.asscalar()


def fresh_process(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


@pytest.mark.parametrize("optimizer", ["sgd", "adam", "nadam", "rmsprop", "adagrad", "lamb"])
def test_training_step_lowers_the_loss(optimizer):
    net = small_net()
    trainer = gluon.Trainer(net.collect_params(), optimizer, {"learning_rate": 0.01})
    losses = [step(net, trainer) for _ in range(5)]
    assert losses[-1] < losses[0]


def test_parameters_and_trainer_states_continue_exactly(tmp_path):
    net = small_net()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})
    step(net, trainer)
    net.save_parameters(str(tmp_path / "net.params"))
    trainer.save_states(str(tmp_path / "trainer.states"))
    straight_on = [step(net, trainer) for _ in range(3)]

    net = small_net()
    net.load_parameters(str(tmp_path / "net.params"))
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})
    trainer.load_states(str(tmp_path / "trainer.states"))
    assert [step(net, trainer) for _ in range(3)] == straight_on


def test_export_and_import_give_the_same_features(tmp_path):
    net = small_net()
    expected = net(images()).asnumpy()
    net.export(str(tmp_path / "net"))
    block = gluon.SymbolBlock.imports(
        str(tmp_path / "net-symbol.json"), ["data"], str(tmp_path / "net-0000.params")
    )
    np.testing.assert_array_equal(block(images()).asnumpy(), expected)


def test_indexing_with_numpy_scalars_and_arrays():
    array = mx.nd.arange(12).reshape((3, 4))
    assert array[np.int64(1)][np.int32(2)].asscalar() == 6
    assert array[np.int64(0) : np.int64(2)].shape == (2, 4)
    np.testing.assert_array_equal(array[np.array([2, 0])].asnumpy(), [[8, 9, 10, 11], [0, 1, 2, 3]])
    np.testing.assert_array_equal(
        array.slice_axis(axis=1, begin=np.int64(1), end=np.int64(2)).asnumpy(), [[1], [5], [9]]
    )


def test_numpy_scalars_inside_tuples_reach_the_operators():
    width = np.int64(4)
    assert mx.nd.zeros((np.int64(2), width)).reshape((width, np.int64(-1))).shape == (4, 2)
    assert mx.nd.slice(mx.nd.ones((3, 4)), begin=(None, np.int64(1)), end=(None, np.int64(3))).shape == (3, 2)
    node = mx.sym.slice(mx.sym.var("data"), begin=[np.int32(0), np.int32(1)], end=(np.int64(2), width))
    assert node.infer_shape(data=(3, 4))[1] == [(2, 3)]
    conv = gluon.nn.Conv2D(np.int64(2), kernel_size=(np.int64(3), np.int64(3)), in_channels=np.int64(3))
    conv.initialize()
    conv.hybridize()
    assert conv(images()).shape == (4, 2, 6, 6)
    values = mx.nd.array([0.5, 2.5])
    np.testing.assert_array_equal(values.clip(np.float32(1), np.float64(2)).asnumpy(), [1, 2])


def test_numpy_scalars_inside_tuples_reach_the_iterators(tmp_path):
    (tmp_path / "rows.csv").write_text("1,2\n3,4\n")
    rows = mx.io.CSVIter(data_csv=str(tmp_path / "rows.csv"), data_shape=(np.int64(2),), batch_size=2)
    np.testing.assert_array_equal(next(rows).data[0].asnumpy(), [[1, 2], [3, 4]])


def test_ndarray_becomes_a_numpy_array():
    array = mx.nd.array([[1, 2], [3, 4]], dtype="float32")
    assert np.asarray(array).dtype == np.float32
    np.testing.assert_array_equal(np.asarray(array), [[1, 2], [3, 4]])
    np.testing.assert_array_equal(np.array(array, dtype=np.int64), [[1, 2], [3, 4]])
    np.testing.assert_array_equal(np.stack([array[0], array[1]]), [[1, 2], [3, 4]])


def test_arithmetic_with_numpy_still_gives_ndarrays():
    array = mx.nd.ones((2,))
    for result in (array * np.float32(2), np.float32(2) * array, np.float64(3) - array):
        assert isinstance(result, mx.nd.NDArray)
        np.testing.assert_array_equal(result.asnumpy(), [2, 2])


def test_mxnet_numpy():
    array = mx.np.array([1.0, 2.0, 3.0])
    assert isinstance(np.round(array), mx.np.ndarray) and isinstance(np.prod(array), mx.np.ndarray)
    assert mx.np.pad(array, (1, 1), mode="constant").shape == (5,)
    assert array[array > 1].shape == (2,)
    assert np.asarray(array).tolist() == [1, 2, 3]
    assert mx.np.PZERO == 0 and mx.np.in1d(array, array).all()


@pytest.mark.parametrize("workers, thread_pool", [(0, False), (2, False), (2, True)])
def test_data_loader(workers, thread_pool):
    rows = np.arange(20, dtype=np.float32).reshape(10, 2)
    data = gluon.data.ArrayDataset(rows, np.arange(10))
    loader = gluon.data.DataLoader(data, batch_size=4, num_workers=workers, thread_pool=thread_pool)
    batches = [(images.asnumpy(), labels.asnumpy()) for images, labels in loader]
    np.testing.assert_array_equal(np.concatenate([images for images, _ in batches]), rows)
    np.testing.assert_array_equal(np.concatenate([labels for _, labels in batches]), np.arange(10))


def test_image_operations():
    picture = mx.nd.random.uniform(0, 255, (40, 60, 3)).astype("uint8")
    assert mx.image.resize_short(picture, 32).shape == (32, 48, 3)
    assert mx.image.center_crop(picture, (24, 24))[0].shape == (24, 24, 3)
    assert mx.image.copyMakeBorder(picture, 1, 1, 2, 2).shape == (42, 64, 3)
    jpeg = mx.image.CreateAugmenter(
        (3, 24, 24), rand_crop=True, rand_mirror=True, brightness=0.1, mean=True, std=True
    )
    for augmenter in jpeg:
        picture = augmenter(picture)
    assert picture.shape == (24, 24, 3)


def test_arrays_are_saved_and_loaded(tmp_path):
    path = str(tmp_path / "arrays")
    sparse = mx.nd.array([[0, 1], [0, 0]]).tostype("row_sparse")
    mx.nd.save(path, {"dense": mx.nd.arange(3), "sparse": sparse})
    loaded = mx.nd.load(path)
    np.testing.assert_array_equal(loaded["dense"].asnumpy(), [0, 1, 2])
    np.testing.assert_array_equal(loaded["sparse"].asnumpy(), sparse.asnumpy())


def test_function_of_our_own_and_second_order():
    class Double(autograd.Function):
        def forward(self, x):
            return 2 * x

        def backward(self, dy):
            return 2 * dy

    x = mx.nd.zeros((1,))
    x.attach_grad()
    with autograd.record():
        slope = autograd.grad(mx.nd.exp(x), [x], create_graph=True)[0]
        total = (slope + Double()(x)).sum()
    total.backward()
    assert x.grad.asscalar() == 1 + 2


def test_estimator_and_numeric_gradient_find_the_names_they_use_late():
    from mxnet.gluon.contrib import estimator

    assert estimator.EarlyStoppingHandler(monitor=mx.metric.Loss()).patience == 0
    mx.test_utils.check_numeric_gradient(mx.sym.square(mx.sym.var("x")), [np.array([1.5, -2.0])])
    mx.test_utils.chi_square_check(
        lambda n: np.random.default_rng(0).uniform(size=n), [(0, 0.5), (0.5, 1)], [0.5, 0.5], nsamples=1000
    )


def test_importing_dmlplayground_is_free():
    result = fresh_process(
        "import sys, dmlplayground; print(sorted({'mxnet', 'numpy', 'scipy', 'ctypes'} & set(sys.modules)))"
    )
    assert result.stdout.strip() == "[]", result.stderr


def test_python_without_distutils_and_what_numpy_keeps():
    """As on 3.12 and later without setuptools; hidden here, so that every Python goes through it."""
    result = fresh_process(
        "import sys; sys.modules['distutils'] = None\n"
        "import types, numpy as np; before = set(vars(np)); import dmlplayground, mxnet\n"
        "print(mxnet.nd.ones((1,)).asscalar(), 'distutils' in sys.modules)\n"
        "new = set(vars(np)) - before\n"
        "print(*(name for name in new if not isinstance(vars(np)[name], types.ModuleType)))"
    )
    assert result.returncode == 0, result.stderr
    one, distutils, *kept = result.stdout.split()
    assert (one, distutils) == ("1.0", "False")
    assert set(kept) <= {"bool", "int", "Inf", "compat"}


def test_gluoncv_without_distutils_and_pillow_stays_strict_about_truncated_files():
    pytest.importorskip("gluoncv")
    result = fresh_process(
        "import sys; sys.modules['distutils'] = None\n"
        "import dmlplayground, gluoncv, mxnet; from PIL import ImageFile\n"
        "print(mxnet.nd.ones((1,)).asscalar(), 'distutils' in sys.modules, ImageFile.LOAD_TRUNCATED_IMAGES)"
    )
    assert result.stdout.split() == ["1.0", "False", "False"], result.stderr


@pytest.mark.slow
def test_dmlplayground_imported_after_a_failed_attempt():
    result = fresh_process(
        "import numpy as np\n"
        "try:\n    import mxnet\nexcept Exception: pass\n"
        "import dmlplayground, mxnet; print(np.asarray(mxnet.nd.ones((2,))))"
    )
    assert result.stdout.strip() == "[1. 1.]", result.stderr


@pytest.mark.slow
def test_dmlplayground_imported_after_mxnet():
    result = fresh_process(
        "import numpy as np\n"
        "from dmlplayground import compat; import sys; sys.meta_path.pop(0)\n"
        "compat._lend_system_libraries()\n"
        "with compat._lent_numpy_names(), compat._lent_distutils():\n    import mxnet\n"
        "compat.install(); print(np.asarray(mxnet.nd.ones((2,))))"
    )
    assert result.stdout.strip() == "[1. 1.]", result.stderr
