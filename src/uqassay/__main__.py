"""``python -m uqassay`` is the command line."""

import sys

from uqassay.cli import main

sys.exit(main())
