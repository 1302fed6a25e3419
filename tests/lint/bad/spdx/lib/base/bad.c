int bad;
