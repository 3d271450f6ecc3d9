/** Builds the documents of an OCI image: config, manifest and index. Pure: knows layers by digest and size only. */
import { createHash } from 'node:crypto'
import type { ImageConfig } from './image-definition.ts'

export interface Blob {
  /** `sha256:…` */
  readonly digest: string
  readonly size: number
}

export interface ImageLayout {
  /** The digest of the manifest, by which the image is known. */
  readonly digest: string
  /** Text by path in the archive; the layers are beside them in `blobs/sha256`. */
  readonly documents: ReadonlyMap<string, string>
}

const MEDIA = 'application/vnd.oci.image'

export function layOutImage(
  reference: string,
  config: ImageConfig,
  layers: readonly Blob[],
  architecture: string,
): ImageLayout {
  const documents = new Map<string, string>()
  const add = (value: object): Blob => {
    const text = JSON.stringify(value)
    const hash = createHash('sha256').update(text).digest('hex')
    documents.set(`blobs/sha256/${hash}`, text)
    return { digest: `sha256:${hash}`, size: Buffer.byteLength(text) }
  }
  const configBlob = add({
    // Without the time of the build the same content has the same digest.
    created: '1970-01-01T00:00:00Z',
    architecture,
    os: 'linux',
    config: containerConfig(config),
    rootfs: { type: 'layers', diff_ids: layers.map(({ digest }) => digest) },
    history: layers.map(() => ({ created: '1970-01-01T00:00:00Z', created_by: 'stackloom sandbox image build' })),
  })
  const manifest = add({
    schemaVersion: 2,
    mediaType: `${MEDIA}.manifest.v1+json`,
    config: { mediaType: `${MEDIA}.config.v1+json`, ...configBlob },
    layers: layers.map((layer) => ({ mediaType: `${MEDIA}.layer.v1.tar`, ...layer })),
  })
  const index = {
    schemaVersion: 2,
    manifests: [
      {
        mediaType: `${MEDIA}.manifest.v1+json`,
        ...manifest,
        platform: { architecture, os: 'linux' },
        annotations: {
          'io.containerd.image.name': reference,
          'org.opencontainers.image.ref.name': reference,
        },
      },
    ],
  }
  documents.set('index.json', JSON.stringify(index))
  documents.set('oci-layout', JSON.stringify({ imageLayoutVersion: '1.0.0' }))
  return { digest: manifest.digest, documents }
}

function containerConfig({ user, entrypoint, command, workingDir, env, labels }: ImageConfig): object {
  return {
    ...(user !== undefined && { User: user }),
    Env: Object.entries({ PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', ...env }).map(
      ([name, value]) => `${name}=${value}`,
    ),
    ...(entrypoint && { Entrypoint: entrypoint }),
    ...(command && { Cmd: command }),
    ...(workingDir !== undefined && { WorkingDir: workingDir }),
    ...(labels && { Labels: labels }),
  }
}

/** The name of this machine's architecture in images. */
export function imageArchitecture(arch: string): string {
  return arch === 'x64' ? 'amd64' : arch
}
