"""What knows nothing of metric learning: errors, files, options, the registry of parts, signals, threads, devices, downloads."""

__all__: list[str] = []
