"""Speed: workloads with peers and yardsticks, the page that shows them, and the comparison of two commits.

A workload prepares its data and gives what is timed; the page and the comparison run the same workloads in new processes.
"""
