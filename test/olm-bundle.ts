/** The operator's bundle as OLM installs it: a catalog for opm, and the objects that a user creates. */
import path from 'node:path'
import { parse } from 'yaml'
import type { KubeObject } from '../src/api/object.ts'
import { bundleFiles, type ManifestRelease } from '../tools/release-manifests.ts'

/** The package, and the namespace that it is installed in. */
export const BUNDLE = 'stackloom-operator'
const GROUP = 'operators.coreos.com'
/** The sandbox serves a catalog of its own at the port before it. */
const PORT = 50_052

/** What `opm render` makes of the bundle, with its objects inline, so that no image is unpacked. */
export function renderBundleCatalog(release: ManifestRelease): string {
  const { name } = bundleVersion(release)
  const objects = [...bundleFiles(release)]
    .filter(([file]) => file.startsWith('manifests/'))
    .map(([, text]) => parse(text) as KubeObject)
  const documents = [
    { schema: 'olm.package', name: BUNDLE, defaultChannel: 'candidate' },
    { schema: 'olm.channel', package: BUNDLE, name: 'candidate', entries: [{ name }] },
    {
      schema: 'olm.bundle',
      package: BUNDLE,
      name,
      properties: [
        { type: 'olm.package', value: { packageName: BUNDLE, version: release.version } },
        ...objects.map((object) => ({
          type: 'olm.bundle.object',
          value: { data: Buffer.from(JSON.stringify(object)).toString('base64') },
        })),
      ],
    },
  ]
  return documents.map((document) => `${JSON.stringify(document)}\n`).join('')
}

/** The arguments of opm for `catalog/` in a folder. */
export function serveCatalog(folder: string): readonly string[] {
  const cache = `--cache-dir=${path.join(folder, 'cache')}`
  return [
    'serve',
    path.join(folder, 'catalog'),
    `--port=${PORT}`,
    cache,
    '--cache-enforce-integrity=false',
    '--termination-log=/dev/null',
    '--pprof-addr=',
  ]
}

/** What a user creates. */
export function bundleInstallation(): readonly KubeObject[] {
  const metadata = { name: BUNDLE, namespace: BUNDLE }
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: BUNDLE } },
    {
      apiVersion: `${GROUP}/v1alpha1`,
      kind: 'CatalogSource',
      metadata,
      spec: { sourceType: 'grpc', address: `127.0.0.1:${PORT}` },
    },
    { apiVersion: `${GROUP}/v1`, kind: 'OperatorGroup', metadata, spec: {} },
    {
      apiVersion: `${GROUP}/v1alpha1`,
      kind: 'Subscription',
      metadata,
      spec: { channel: 'candidate', name: BUNDLE, source: BUNDLE, sourceNamespace: BUNDLE },
    },
  ]
}

export function bundleVersion({ version }: Pick<ManifestRelease, 'version'>): {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
} {
  const name = `${BUNDLE}.v${version}`
  return { apiVersion: `${GROUP}/v1alpha1`, kind: 'ClusterServiceVersion', namespace: BUNDLE, name }
}
