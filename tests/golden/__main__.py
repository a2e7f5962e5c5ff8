"""``python -m tests.golden``: check the golden outputs, take them anew, or show one difference."""

import sys

from tests.golden.check import main

sys.exit(main())
