/** Names the images that the nodes themselves need. */

export const PAUSE_IMAGE = 'registry.k8s.io/pause:3.10'
