import { mkdir, readFile, rename, symlink, truncate, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { beforeAll, describe, expect, it } from 'vitest'
import { useFolder } from '../../../test/folder.ts'
import { testIo } from '../../../test/io.ts'
import { sha256 } from '../../backup/archive.ts'
import { seal } from '../../backup/seal.ts'
import { openArchive, openBackupFolder } from './archive-folder.ts'

const folder = useFolder()
let identity = ''
beforeAll(async () => {
  identity = await generateIdentity()
})

const plain: Readonly<Record<string, string>> = {
  'addresses.json': '[]',
  'namespace.json': '{}',
  'inventory.json': '{}',
  'objects/10-ConfigMap.json': '[]',
}

/** Writes an archive whose hashes fit: its author has the public key. */
async function writeArchive(changes: Readonly<Record<string, string>>, sealed?: string): Promise<string> {
  const name = `archive-${Math.random().toString(36).slice(2)}`
  await mkdir(path.join(folder, name, 'objects'), { recursive: true })
  const files = { ...plain, ...changes }
  const hashes = Object.fromEntries(Object.entries(files).map(([file, text]) => [file, sha256(text)]))
  const text = sealed ?? JSON.stringify({ files: hashes, secrets: [] })
  const secrets = await seal(text, [await identityToRecipient(identity)])
  const manifest = {
    apiVersion: 'stackloom.dev/v1alpha1',
    kind: 'Backup',
    name: 'rhoso1-1',
    time: '2026-01-01T00:00:00Z',
    site: 'lab',
    cloud: 'rhoso1',
    namespace: 'openstack',
    dumps: [],
    files: Object.entries({ ...hashes, 'secrets.age': sha256(secrets) }).map(([file, hash]) => ({
      path: file,
      sha256: hash,
    })),
  }
  const contents = { ...files, 'secrets.age': secrets, 'manifest.json': JSON.stringify(manifest) }
  for (const [file, content] of Object.entries(contents)) await writeFile(path.join(folder, name, file), content)
  return name
}

describe('the folder of an unfinished backup', () => {
  it.each(['x; reboot', '../x', 'X', 'x'.repeat(100), ''])('is not continued with the name %j', async (name) => {
    const out = `unfinished-${Math.random().toString(36).slice(2)}`
    await mkdir(path.join(folder, out))
    await writeFile(path.join(folder, out, 'backup.json'), JSON.stringify({ name, cloud: 'rhoso1' }))
    const opened = openBackupFolder(out, 'rhoso1', 'rhoso1-1', testIo({ cwd: folder }))
    await expect(opened).rejects.toMatchObject({ findings: [{ code: 'SL4115' }] })
  })
})

const open = (name: string) => openArchive(name, identity, testIo({ cwd: folder }))
const refused = { findings: [{ code: expect.stringMatching(/^SL\d{4}$/) }] }

describe('an archive from elsewhere', () => {
  it('is opened when it is whole', async () => {
    expect(await open(await writeArchive({}))).toMatchObject({ addresses: [], objects: [] })
  })

  const values = ['null', '7', '"x"', '[null]', '[7]', '{"a":1}', '{', '']
  const files = [...Object.keys(plain), 'site.lock.yaml']
  it.each(files.flatMap((file) => values.map((text) => [file, text] as const)))(
    'is read or refused with a finding: %s has %j',
    async (file, text) => {
      const name = await writeArchive({ [file]: text })
      await open(name).catch((thrown: unknown) => expect(thrown).toMatchObject(refused))
    },
  )

  it.each(['null', '7', '[]', '{"files":null}', '{"files":{},"secrets":null}', '{'])(
    'is refused when the encrypted file has %s, which binds no other file',
    async (sealed) => {
      await expect(open(await writeArchive({}, sealed))).rejects.toHaveProperty('findings[0].code')
    },
  )

  it('is refused with a lock that is none, and with a Secret of another namespace', async () => {
    await expect(open(await writeArchive({ 'site.lock.yaml': '[7' }))).rejects.toMatchObject(refused)
    const hashes = Object.fromEntries(Object.entries(plain).map(([file, text]) => [file, sha256(text)]))
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x', namespace: 'kube-system' } }
    const name = await writeArchive({}, JSON.stringify({ files: hashes, secrets: [secret] }))
    await expect(open(name)).rejects.toMatchObject({ findings: [{ code: 'SL4112' }] })
  })

  it.each(['manifest.json', 'addresses.json', 'secrets.age', 'objects/10-ConfigMap.json', 'objects'])(
    'is refused when %s is a symbolic link, also to what it should be',
    async (file) => {
      const name = await writeArchive({})
      const elsewhere = path.join(folder, `${name}-elsewhere`)
      await rename(path.join(folder, name, file), elsewhere)
      await symlink(elsewhere, path.join(folder, name, file))
      await expect(open(name)).rejects.toMatchObject(refused)
    },
  )

  it.each(['../x.json', '/etc/passwd', 'objects/../../x.json', 'objects/10-..json', 'secrets.age/x', 'a\0b'])(
    'is refused when its manifest lists %j',
    async (file) => {
      const name = await writeArchive({})
      const manifest = path.join(folder, name, 'manifest.json')
      const text = (await readFile(manifest, 'utf8')).replace('addresses.json', JSON.stringify(file).slice(1, -1))
      await writeFile(manifest, text)
      await expect(open(name)).rejects.toMatchObject(refused)
    },
  )

  it('is refused when values are nested so deeply that no function can walk them', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    const item = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"openstack"},"data":${deep}}`
    const name = await writeArchive({ 'objects/10-ConfigMap.json': `[${item}]` })
    await expect(open(name)).rejects.toMatchObject({ findings: [{ code: 'SL4110' }] })
  })

  it('lists nothing outside of its namespace that it does not have, because `down` deletes what is listed', async () => {
    const pool = (name: string) => ({
      apiVersion: 'metallb.io/v1beta1',
      kind: 'IPAddressPool',
      namespace: 'metallb-system',
      name,
    })
    const entries = [pool('openstack-ctlplane'), pool('openstack-b-ctlplane'), { ...pool('x'), kind: 'BGPPeer' }]
    const { name, namespace, ...kind } = pool('openstack-ctlplane')
    const saved = {
      ...kind,
      metadata: { name, namespace },
      spec: { serviceAllocation: { namespaces: ['openstack'] } },
    }
    const archive = await open(
      await writeArchive({
        'inventory.json': JSON.stringify({ data: { objects: JSON.stringify(entries) } }),
        'objects/20-IPAddressPool.json': JSON.stringify([saved]),
      }),
    )
    expect(archive.inventory.objects.map((entry) => entry.name)).toEqual(['openstack-ctlplane'])
  })

  it('is refused when a file is too large, before the file is in memory', async () => {
    const name = await writeArchive({})
    await truncate(path.join(folder, name, 'objects/10-ConfigMap.json'), 200 * 1024 ** 3)
    await expect(open(name)).rejects.toMatchObject({
      findings: [{ code: 'SL4110', message: expect.stringContaining('larger than 128 MiB') }],
    })
  })
})
