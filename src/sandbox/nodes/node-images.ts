/** Loads the images that the nodes themselves need into their containerds: of every pod, MetalLB's speaker, whereabouts' reconciler. */
import { type BuildContext, ensurePrograms } from '../build/ensure-programs.ts'
import { type BuiltImage, ensureImage, ensureImages } from '../images/ensure-images.ts'
import { loadImage } from '../images/load-image.ts'
import type { NodeLayout, SandboxNode } from './node-layout.ts'
import { speakerImage } from './speaker.ts'
import { reconcilerImage } from './whereabouts-reconciler.ts'

export async function loadNodeImages({ nodes }: NodeLayout, context: BuildContext): Promise<void> {
  const programs = await ensurePrograms(['metallb-speaker', 'whereabouts-reconciler'], context)
  const images = [
    ...(await ensureImages(['pause'], context)),
    await ensureImage('metallb-speaker', speakerImage(programs['metallb-speaker']), context),
    await ensureImage('whereabouts-reconciler', reconcilerImage(programs['whereabouts-reconciler']), context),
  ]
  // Each node has its own containerd, so they load at the same time.
  await Promise.all(
    nodes.map(async (node) => {
      const present = await readImages(node, context)
      for (const image of images) if (!isLoaded(image, present)) await loadImage(node, image.archive, context)
    }),
  )
}

/** One line per image, with its name and digest. */
async function readImages({ socket }: SandboxNode, { exec }: BuildContext): Promise<readonly string[]> {
  const args = ['--address', socket, '--namespace', 'k8s.io', 'images', 'list']
  return (await exec({ file: 'ctr', args })).stdout.split('\n')
}

function isLoaded({ reference, digest }: BuiltImage, present: readonly string[]): boolean {
  return present.some((line) => line.startsWith(`${reference} `) && line.includes(digest))
}
