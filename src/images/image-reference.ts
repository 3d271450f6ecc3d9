/** Parses names of images, and the address of a mirror. Pure. */

export interface ImageReference {
  /** `registry.redhat.io`, with its port. */
  readonly registry: string
  /** `rhoso/openstack-nova-api-rhel9`. */
  readonly repository: string
  /** A tag or a digest. */
  readonly reference: string
  readonly isDigest: boolean
}

const HOST = '[A-Za-z0-9](?:[A-Za-z0-9.-]{0,250}[A-Za-z0-9])?(?::[0-9]{1,5})?'
const COMPONENT = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*'
const REPOSITORY = `${COMPONENT}(?:/${COMPONENT}){0,20}`
const IMAGE = new RegExp(
  `^(${HOST})/(${REPOSITORY})(?::([A-Za-z0-9_][A-Za-z0-9_.-]{0,127}))?(?:@(sha256:[0-9a-f]{64}))?$`,
)
const MIRROR = new RegExp(`^(${HOST})(?:/(${REPOSITORY}))?$`)

/** Undefined for text that is no image. Without a registry in front, container tools add docker.io. */
export function parseImage(text: string): ImageReference | undefined {
  const [first = ''] = text.split('/')
  const hasRegistry = text.includes('/') && /[.:]|^localhost$/.test(first)
  const full = hasRegistry ? text : `docker.io/${text.includes('/') ? '' : 'library/'}${text}`
  const [, registry, repository, tag, digest] = IMAGE.exec(full) ?? []
  if (registry === undefined || repository === undefined) return undefined
  return { registry, repository, reference: digest ?? tag ?? 'latest', isDigest: digest !== undefined }
}

export interface Mirror {
  readonly registry: string
  readonly prefix?: string
}

export function parseMirror(text: string): Mirror | undefined {
  const [, registry, prefix] = MIRROR.exec(text) ?? []
  return registry === undefined ? undefined : { registry, ...(prefix !== undefined && { prefix }) }
}

/** Where oc-mirror puts an image: the mirror takes the place of the registry, the repository stays. */
export function mirrorImage({ registry, prefix }: Mirror, image: ImageReference): ImageReference {
  return { ...image, registry, repository: prefix === undefined ? image.repository : `${prefix}/${image.repository}` }
}

export function formatImage({ registry, repository, reference, isDigest }: ImageReference): string {
  return `${registry}/${repository}${isDigest ? '@' : ':'}${reference}`
}
