/** The tag of the container images: which distribution they are, for which architecture. */
import type { Lab } from '../lab.ts'

const CODENAME = { debian: 'bookworm', ubuntu: 'noble' } as const

export function imageTag(lab: Lab): string {
  const { base } = lab.containers
  return `${lab.release}-${base}-${CODENAME[base]}${imageTagSuffix(lab)}`
}

export function imageTagSuffix({ arch }: Lab): string {
  return arch === 'aarch64' ? '-aarch64' : ''
}
