"""Puts pip into the environment whose Python runs this, with the standard library alone.

For Debian's Python without the package python3-venv, which has neither ensurepip nor, often, a pip.
"""

import hashlib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import urljoin
from urllib.request import urlopen

VERSION = "24.0"  # works on every Python from 3.7 on; a newer one is not needed
INDEX = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/") + "/pip/"

print(f"Fetching pip {VERSION} from {INDEX}")
page = urlopen(INDEX).read().decode()
link = re.search(rf'href="([^"#]*/(pip-{VERSION}-py3-none-any\.whl))#sha256=(\w+)"', page)
if not link:
    sys.exit(
        f"error: no wheel of pip {VERSION} at {INDEX}. Install your system's package python3-venv instead."
    )
wheel = urlopen(urljoin(INDEX, link[1])).read()
if hashlib.sha256(wheel).hexdigest() != link[3]:
    sys.exit(f"error: {link[1]} arrived damaged.")
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, link[2])
    path.write_bytes(wheel)
    subprocess.run([sys.executable, path / "pip", "install", "--quiet", "--no-index", path], check=True)
