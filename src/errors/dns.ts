/** SL6xxx: the DNS controllers. */
export {}
