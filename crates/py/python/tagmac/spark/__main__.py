"""`python -m tagmac.spark`, and the file that spark-submit takes."""

import sys

if __name__ == "__main__":
    # spark-submit runs this file by its path, with its folder first among those of modules.
    from tagmac.spark.command import main

    sys.exit(main(sys.argv[1:]))
