/**
 * Keys: one string that names an object of a known kind, and the way back.
 */

/** What a controller is asked to look at: never what happened, only where. */
export interface Request {
  readonly namespace?: string
  readonly name: string
}

/** `namespace/name`, or the name alone for what has no namespace. */
export function objectKey({ namespace, name }: Request): string {
  return namespace ? `${namespace}/${name}` : name
}

export function parseObjectKey(key: string): Request {
  const slash = key.indexOf('/')
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}
