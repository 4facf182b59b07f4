"""HTTP with a deadline, addresses that may be asked, and settings of what is asked there."""
