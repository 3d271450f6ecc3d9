/** SL8xxx: the lab. */
export {}
