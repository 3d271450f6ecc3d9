/**
 * The value of a pod's annotation `k8s.v1.cni.cncf.io/networks`: which networks Multus attaches it to, with or without
 * addresses of its own.
 */

export const NETWORKS_ANNOTATION = 'k8s.v1.cni.cncf.io/networks'

export interface Attachment {
  readonly name: string
  readonly namespace: string
  /** With prefix length: `172.17.0.20/24`. Only a definition with static IPAM takes them. */
  readonly ips?: readonly string[]
}

export function networksAnnotation(attachments: readonly Attachment[]): string {
  return JSON.stringify(
    attachments.map(({ name, namespace, ips }) => ({ name, namespace, ...(ips?.length && { ips }) })),
  )
}
