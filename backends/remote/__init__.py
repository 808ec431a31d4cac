"""What engines have in common whose index lies in a server that several machines share."""
