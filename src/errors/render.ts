/** SL3xxx: rendering. */
export {}
