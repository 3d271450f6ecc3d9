/** Loads an image archive into the containerd of a node, where its kubelet finds it without a registry. */
import { failure } from '../../errors/failure.ts'
import { describeExit, type Exec, lastLines, succeeded } from '../../exec/process.ts'
import { imageLoadFailed } from './findings.ts'

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

export async function loadImage(node: ImageNode, archive: string, { exec, signal }: LoadContext): Promise<void> {
  const args = ['--address', node.socket, '--namespace', KUBELET_NAMESPACE, 'images', 'import', archive]
  const { exit, stderr } = await exec({ file: 'ctr', args }, signal ? { signal } : {})
  if (succeeded(exit)) return
  signal?.throwIfAborted()
  throw failure(imageLoadFailed, { archive, node: node.name, reason: lastLines(stderr) || describeExit(exit) })
}
