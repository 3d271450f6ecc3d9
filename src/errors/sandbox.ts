/** SL12xx: the sandbox. */
export {}
