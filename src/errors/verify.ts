/** SL9xxx: verify and doctor. */
export {}
