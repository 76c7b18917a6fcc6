"""The entry point of ``python -m tagmac.spark``, and the file to pass to spark-submit."""

import sys

if __name__ == "__main__":
    # spark-submit runs this file by its path, outside the package, so relative imports would fail.
    from tagmac.spark.command import main

    sys.exit(main(sys.argv[1:]))
