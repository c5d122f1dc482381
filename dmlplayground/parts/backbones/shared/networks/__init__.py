"""The layers of networks that are in neither zoo. They need MXNet; their records do not."""

__all__ = ["efficientnet_lite", "inception_bn"]
