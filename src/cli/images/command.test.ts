import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useFolder } from '../../../test/folder.ts'
import { testIo } from '../../../test/io.ts'
import { main } from '../main.ts'

const digest = (letter: string): string => `sha256:${letter.repeat(64)}`
const version = {
  apiVersion: 'core.openstack.org/v1beta1',
  kind: 'OpenStackVersion',
  metadata: { name: 'controlplane', namespace: 'openstack' },
  status: {
    containerImages: {
      novaAPIImage: `registry.redhat.io/rhoso/nova-api@${digest('a')}`,
      glanceAPIImage: `registry.redhat.io/rhoso/glance-api@${digest('b')}`,
    },
  },
}

describe('stackloom images', () => {
  const folder = useFolder()
  let server: Server
  let address = ''
  const seen: string[] = []

  /** A registry as the distribution specification describes it, with a token service, which has the image of nova only. */
  beforeAll(async () => {
    server = createServer((request, response) => {
      const { url = '', headers, method } = request
      seen.push(`${method} ${url} ${headers.authorization ?? '-'}`)
      if (url.startsWith('/token')) {
        const isKnown = headers.authorization === `Basic ${Buffer.from('me:pass').toString('base64')}`
        response.statusCode = isKnown ? 200 : 401
        return response.end(JSON.stringify({ token: 'granted' }))
      }
      if (headers.authorization !== 'Bearer granted') {
        response.statusCode = 401
        response.setHeader(
          'www-authenticate',
          `Bearer realm="http://${address}/token",service="r",scope="repository:x:pull"`,
        )
        return response.end()
      }
      response.statusCode = url === `/v2/mirror/rhoso/nova-api/manifests/${digest('a')}` ? 200 : 404
      return response.end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    address = `127.0.0.1:${(server.address() as { readonly port: number }).port}`
    await mkdir(path.join(folder, 'dump'))
    await writeFile(
      path.join(folder, 'dump/versions.json'),
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [version] }),
    )
    const auth = Buffer.from('me:pass').toString('base64')
    await writeFile(path.join(folder, 'auth.json'), JSON.stringify({ auths: { [address]: { auth } } }))
    await writeFile(path.join(folder, 'broken.json'), 'secret-password')
  })
  afterAll(() => new Promise((resolve) => server.close(resolve)))

  const run = async (...words: readonly string[]) => {
    const io = testIo({ cwd: folder, columns: 200 })
    const code = await main(['images', ...words], io)
    return { code, out: io.out(), err: io.err() }
  }

  it('lists the images of a dump', async () => {
    const { code, out } = await run('list', '--from', 'dump', '-o', 'name')
    expect(out.split('\n').filter(Boolean)).toEqual([
      `registry.redhat.io/rhoso/glance-api@${digest('b')}`,
      `registry.redhat.io/rhoso/nova-api@${digest('a')}`,
    ])
    expect(code).toBe(0)
  })

  it('prints the configuration of oc-mirror and of hosts', async () => {
    expect((await run('image-set', '--from', 'dump')).out).toContain('kind: ImageSetConfiguration')
    const { out } = await run('host-settings', '--from', 'dump', '--mirror', 'registry.local/mirror', '-o', 'json')
    expect(JSON.parse(out)).toMatchObject({
      edpm_podman_registries_conf: expect.stringContaining('registry.local/mirror'),
    })
  })

  const check = (...words: readonly string[]) =>
    run('check', '--from', 'dump', '--mirror', `${address}/mirror`, '--plain-http', ...words)

  it('names the image that a mirror lacks', async () => {
    const { code, out, err } = await check('--authfile', 'auth.json', '-o', 'json')
    expect(code).toBe(1)
    expect(err).toContain(`SL4151: the mirror has no ${address}/mirror/rhoso/glance-api@${digest('b')}`)
    const { images } = JSON.parse(out) as { readonly images: readonly object[] }
    expect(images).toMatchObject([{ answer: 'missing' }, { answer: 'present' }])
  })

  it('does not take a registry that refuses for one without the image', async () => {
    seen.length = 0
    const { code, err } = await check()
    expect(code).toBe(3)
    expect(err).toContain('SL4152')
    expect(seen.filter((line) => line.startsWith('HEAD')).every((line) => line.endsWith(' -'))).toBe(true)
  })

  it('does not print an auth file that it cannot read', async () => {
    const { code, err } = await check('--authfile', 'broken.json', '--debug')
    expect(code).toBe(2)
    expect(err).not.toContain('secret-password')
  })

  it('knows the catalogs of a site file without a cluster', async () => {
    const site = `
apiVersion: stackloom.dev/v1alpha1
kind: Site
metadata: {name: lab}
spec:
  cluster:
    operators: {openstack: {image: "registry.example.com/openstack-operator-index:18"}}
    nodes: [{name: worker-0, nic: enp6s0}]
  clouds: [{name: rhoso1, namespace: openstack}]
`
    await writeFile(path.join(folder, 'site.yaml'), site)
    const { code, out } = await run('image-set', '--offline', '-o', 'json')
    expect(JSON.parse(out)).toMatchObject({
      mirror: {
        operators: [
          { catalog: 'registry.example.com/openstack-operator-index:18', packages: [{ name: 'openstack-operator' }] },
        ],
      },
    })
    expect(code).toBe(0)
  })

  it('takes packages of catalogs that are only named from the catalog of an OpenShift version', async () => {
    const site = await readFile(path.join(folder, 'site.yaml'), 'utf8')
    await writeFile(
      path.join(folder, 'site.yaml'),
      site.replace(/openstack: \{image: .*?\}/, 'metallb: {source: cs-mirror}'),
    )
    const empty = await run('image-set', '--offline')
    expect(empty).toMatchObject({ code: 1, out: '' })
    expect(empty.err).toContain('SL4153')
    const { out } = await run('image-set', '--offline', '--openshift', '4.18', '-o', 'json')
    const { mirror } = JSON.parse(out) as { mirror: { operators: { catalog: string; packages: { name: string }[] }[] } }
    expect(mirror.operators.map(({ catalog, packages }) => [catalog, packages.length])).toEqual([
      ['registry.redhat.io/redhat/redhat-operator-index:v4.18', 4],
    ])
  })
})
