/** Loads images into the containerd of nodes, where their kubelets find them without a registry. */
import { failure } from '../../errors/failure.ts'
import { describeExit, type Exec, lastLines, succeeded } from '../../exec/process.ts'
import { type BuiltImage, ensureImages, type ImageContext } from './ensure-images.ts'
import { imageLoadFailed } from './findings.ts'
import type { ImageName } from './image-table.ts'

/** The namespace of containerd in which the kubelet has its images. */
const KUBELET_NAMESPACE = 'k8s.io'

export interface ImageNode {
  readonly name: string
  /** The socket of its containerd. */
  readonly socket: string
}

export interface LoadContext {
  readonly exec: Exec
  readonly signal?: AbortSignal | undefined
}

/** Builds what is missing, and loads all into every node. */
export async function loadImages(
  names: readonly ImageName[],
  nodes: readonly ImageNode[],
  context: ImageContext,
): Promise<readonly BuiltImage[]> {
  const images = await ensureImages(names, context)
  for (const { name, archive } of images) {
    context.notify({ kind: 'progress', text: `loading the image ${name}` })
    await loadIntoAll(nodes, archive, context)
  }
  return images
}

/** Each node has its own containerd, so they load at the same time. */
export async function loadIntoAll(nodes: readonly ImageNode[], archive: string, context: LoadContext): Promise<void> {
  await Promise.all(nodes.map((node) => loadImage(node, archive, context)))
}

export async function loadImage(node: ImageNode, archive: string, { exec, signal }: LoadContext): Promise<void> {
  const args = ['--address', node.socket, '--namespace', KUBELET_NAMESPACE, 'images', 'import', archive]
  const { exit, stderr } = await exec({ file: 'ctr', args }, signal ? { signal } : {})
  if (succeeded(exit)) return
  signal?.throwIfAborted()
  throw failure(imageLoadFailed, { archive, node: node.name, reason: lastLines(stderr) || describeExit(exit) })
}
