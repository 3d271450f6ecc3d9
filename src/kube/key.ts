/** The key of a reconcile request: `namespace/name`, the inverse of `objectKey`. */

/** Names the object to reconcile; it never says what changed. */
export interface Request {
  readonly namespace?: string
  readonly name: string
}

export function parseObjectKey(key: string): Request {
  const slash = key.indexOf('/')
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}
