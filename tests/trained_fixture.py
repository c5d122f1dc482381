"""What tests of a trained network share: its trial, which takes a second or two."""

TRIAL = {
    "method": "proxy_nca", "data": {"name": "glyphs", "size": 32, "classes": 40}, "backbone": "conv4",
    "embed_dim": 16, "batch_size": 20, "epochs": 2, "iterations": 4, "optimizer": {"lr": 2e-3},
    "evaluation": {"clustering": False},
}  # fmt: skip
