records=5
total=147.50
