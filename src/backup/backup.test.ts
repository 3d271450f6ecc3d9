import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { RELEASES } from '../../test/sandbox-context.ts'
import type { KubeObject, ManagedFields } from '../api/object.ts'
import { getString } from '../api/raw-object.ts'
import { checkHashes, findForeignPools, type Manifest, readManifest, readObjects, sha256 } from './archive.ts'
import { backupKinds, outsideKinds } from './backup-kinds.ts'
import { seal, unseal } from './seal.ts'
import { cleanObject, compareAddresses, heldAddresses, isInBackup } from './select-objects.ts'
import { renderVolumeBackup, renderVolumeRestore, veleroReadiness } from './velero.ts'

const codes = (findings: readonly { readonly code: string }[]): readonly string[] => findings.map(({ code }) => code)
const object = (kind: string, name: string, metadata: Partial<KubeObject['metadata']> = {}, rest = {}): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, namespace: 'openstack', ...metadata },
  ...rest,
})
const manager = (name: string): ManagedFields => ({ manager: name, operation: 'Apply', apiVersion: 'v1', fieldsV1: {} })
const owner = { apiVersion: 'v1', kind: 'X', name: 'x', uid: '1' }

describe('the objects of a backup', () => {
  it.each([
    ['a Secret of a user', object('Secret', 'osp-secret'), true],
    ['a Secret of an operator', object('Secret', 'keystone', { ownerReferences: [owner] }), false],
    [
      'an owned Secret with the label',
      object('Secret', 'ca', { ownerReferences: [owner], labels: { 'backup.openstack.org/restore': 'true' } }),
      true,
    ],
    ['what upstream excludes', object('Secret', 'x', { labels: { 'backup.openstack.org/restore': 'false' } }), false],
    ['a token', object('Secret', 't', {}, { type: 'kubernetes.io/service-account-token' }), false],
    [
      'a certificate that is issued again',
      object('Secret', 'cert', { annotations: { 'cert-manager.io/certificate-name': 'c' } }),
      false,
    ],
    [
      'the CA that hosts trust',
      object('Secret', 'rootca-internal', { annotations: { 'cert-manager.io/certificate-name': 'c' } }),
      true,
    ],
    ["the cluster's own CA", object('ConfigMap', 'kube-root-ca.crt'), false],
    ['what is being deleted', object('ConfigMap', 'x', { deletionTimestamp: '2026-01-01T00:00:00Z' }), false],
  ])('include or leave out %s', (_, found, expected) => {
    expect(isInBackup(found, { select: 'unowned' })).toBe(expected)
  })

  it.for(['18.0-fr6', 'main'])('have every kind that the operators of %s label to be restored', (release, context) => {
    const folder = path.join(RELEASES, release)
    if (!existsSync(folder)) context.skip(`the CRDs of ${release} are not in ../shared/crds`)
    const crds = readdirSync(folder).map(
      (file) => JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as KubeObject,
    )
    const labelled = crds.filter(({ metadata }) => metadata.labels?.['backup.openstack.org/restore'] === 'true')
    expect(labelled.length).toBeGreaterThan(10)
    const kinds = labelled.map((crd) => getString(crd, 'spec', 'names', 'kind'))
    expect(kinds.filter((name) => !backupKinds.some(({ kind }) => kind === name))).toEqual([])
  })

  it('include every Reservation and IPSet, because they hold addresses', () => {
    const selected = backupKinds.filter(({ kind }) => ['Reservation', 'IPSet'].includes(kind))
    expect(selected.map(({ select }) => select)).toEqual(['all', 'all'])
    expect(selected.map(({ order }) => order)).toEqual([30, 40])
  })

  it('have nothing that belongs to the cluster which they come from', () => {
    const live = object('ConfigMap', 'x', {
      uid: '1',
      resourceVersion: '2',
      generation: 3,
      creationTimestamp: 'now',
      finalizers: ['f'],
      ownerReferences: [owner],
      managedFields: [manager('user'), { ...manager('controller'), subresource: 'status' }],
      labels: { a: 'b' },
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}', kept: 'yes' },
    })
    expect(cleanObject({ ...live, data: { k: 'v' }, status: { x: 1 } })).toEqual(
      object(
        'ConfigMap',
        'x',
        { labels: { a: 'b' }, annotations: { kept: 'yes' }, managedFields: [manager('user')] },
        { data: { k: 'v' } },
      ),
    )
  })
})

describe('addresses', () => {
  const ipSet = (address: string) => ({
    ...object('IPSet', 'compute-0'),
    status: { reservations: [{ network: 'ctlplane', address }] },
  })
  const service = { ...object('Service', 'dns'), status: { loadBalancer: { ingress: [{ ip: '10.0.0.80' }] } } }

  it('of hosts and Services are compared one by one', () => {
    const before = heldAddresses([ipSet('10.0.0.100'), service])
    expect(compareAddresses(before, before)).toEqual([])
    expect(compareAddresses(before, heldAddresses([ipSet('10.0.0.101'), service]))).toEqual([
      'IPSet compute-0 ctlplane: 10.0.0.100 is missing',
    ])
  })
})

const manifest = (changes: object = {}): string =>
  JSON.stringify({
    apiVersion: 'stackloom.dev/v1alpha1',
    kind: 'Backup',
    name: 'rhoso1-1',
    time: '2026-01-01T00:00:00Z',
    site: 'lab',
    cloud: 'rhoso1',
    namespace: 'openstack',
    dumps: [],
    files: [{ path: 'secrets.age', sha256: 'a'.repeat(64) }],
    ...changes,
  })

describe('an archive', () => {
  const file = (path: string) => ({ files: [{ path, sha256: 'a'.repeat(64) }] })

  it.each([
    ['a path that leaves the folder', manifest(file('../../etc/passwd'))],
    ['an absolute path', manifest(file('/etc/passwd'))],
    ['a file that no backup has', manifest(file('objects/10-ConfigMap.json/../../x'))],
    ['a file twice', manifest({ files: [...file('site.yaml').files, ...file('site.yaml').files] })],
    ['another kind', manifest({ kind: 'Site' })],
    ['a name with a command', manifest({ name: 'x; rm -rf' })],
    ['a dump with a command', manifest({ dumps: ['$(x)'] })],
    ['an unknown field', manifest({ more: true })],
    ['the namespace of our records', manifest({ namespace: 'stackloom-system' })],
    ['a namespace of the cluster', manifest({ namespace: 'kube-system' })],
    ['a namespace of OpenShift', manifest({ namespace: 'openshift-config' })],
    ['a cloud whose name is none', manifest({ cloud: '' })],
    ['a cloud whose name every object has', manifest({ cloud: '__proto__' })],
    ['no JSON', '{'],
  ])('with %s is refused', (_, text) => {
    const reading = readManifest(text, 'dir')
    expect(reading.manifest).toBeUndefined()
    expect(codes(reading.findings)).toEqual(['SL4110'])
  })

  it('is refused when a file differs from the manifest or from the encrypted hashes', () => {
    const content = Buffer.from('[]')
    const { manifest: read } = readManifest(
      manifest({ files: [{ path: 'site.yaml', sha256: sha256(content) }] }),
      'dir',
    )
    const contents = new Map([['site.yaml', content]])
    expect(checkHashes(read as Manifest, contents, { 'site.yaml': sha256(content) })).toEqual([])
    expect(codes(checkHashes(read as Manifest, new Map([['site.yaml', Buffer.from('x')]]), {}))).toEqual(['SL4111'])
    expect(codes(checkHashes(read as Manifest, contents, { 'site.yaml': sha256('old') }))).toEqual(['SL4111'])
    expect(
      codes(checkHashes(read as Manifest, contents, { 'site.yaml': sha256(content), 'site.lock.yaml': '' })),
    ).toEqual(['SL4111'])
    expect(codes(checkHashes(read as Manifest, contents, {}))).toEqual(['SL4111'])
  })

  const [configMaps] = backupKinds.filter(({ kind }) => kind === 'ConfigMap')
  it.each([
    ['in another namespace', object('ConfigMap', 'x', { namespace: 'kube-system' })],
    ['without a namespace', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } }],
    ['of another kind', object('Secret', 'x')],
    ['with a path as its name', object('ConfigMap', '../secrets/x')],
    ['with an owner', object('ConfigMap', 'x', { ownerReferences: [owner] })],
    ['that is no object', 7],
    ['with owners of fields that are no list', object('ConfigMap', 'x', { managedFields: 7 as never })],
    ['whose version is a list', { ...object('ConfigMap', 'x'), apiVersion: ['v1'] }],
    ['whose version is a path', { ...object('ConfigMap', 'x'), apiVersion: 'v1/../../apis' }],
    ['without labels that could be read', object('ConfigMap', 'x', { labels: null as never })],
    ['with a uid', object('ConfigMap', 'x', { uid: '1' })],
    ['that every namespace gets from the cluster', object('ConfigMap', 'kube-root-ca.crt')],
  ])('with an object %s is refused', (_, item) => {
    if (!configMaps) throw new Error('no kind')
    expect(codes(readObjects(configMaps, [item], 'openstack', 'f').findings)).toEqual(['SL4112'])
    expect(readObjects(configMaps, [object('ConfigMap', 'x')], 'openstack', 'f').objects).toHaveLength(1)
  })

  const outside = (kind: string, name: string, spec: object) => ({
    apiVersion: 'metallb.io/v1beta1',
    kind,
    metadata: { name, namespace: 'metallb-system' },
    spec,
  })
  const own = { serviceAllocation: { namespaces: ['openstack'] } }
  const readOutside = (item: KubeObject) => {
    const [kind] = outsideKinds.filter((outsideKind) => outsideKind.kind === item.kind)
    if (!kind) throw new Error('no kind')
    return codes(readObjects(kind, [item], 'openstack', 'f').findings)
  }

  it.each([
    ['a pool of its own', outside('IPAddressPool', 'openstack-ctlplane', own)],
    ['its announcement', outside('L2Advertisement', 'openstack-ctlplane', { ipAddressPools: ['openstack-ctlplane'] })],
    [
      'its announcement by BGP',
      outside('BGPAdvertisement', 'bgpadvertisement-openstack', { ipAddressPools: ['openstack-ctlplane'] }),
    ],
  ])('may have %s', (_, item) => {
    expect(readOutside(item)).toEqual([])
  })

  it.each([
    ['a pool with a name of another cloud', outside('IPAddressPool', 'openstack2-ctlplane', own)],
    ['a pool for all namespaces', outside('IPAddressPool', 'openstack-x', {})],
    [
      'a pool for another namespace, too',
      outside('IPAddressPool', 'openstack-x', { serviceAllocation: { namespaces: ['openstack', 'openstack2'] } }),
    ],
    [
      'a pool for selected namespaces',
      outside('IPAddressPool', 'openstack-x', {
        serviceAllocation: { namespaces: ['openstack'], namespaceSelectors: [{}] },
      }),
    ],
    ['an announcement of all pools', outside('L2Advertisement', 'openstack-x', {})],
    [
      'an announcement of the pool of another cloud',
      outside('L2Advertisement', 'openstack-x', { ipAddressPools: ['openstack2-ctlplane'] }),
    ],
    [
      'an announcement of selected pools',
      outside('L2Advertisement', 'openstack-x', { ipAddressPools: ['openstack-x'], ipAddressPoolSelectors: [{}] }),
    ],
    [
      'an announcement by BGP with the name of another cloud',
      outside('BGPAdvertisement', 'bgpadvertisement-openstack2', { ipAddressPools: ['openstack-x'] }),
    ],
  ])('with %s is refused', (_, item) => {
    expect(readOutside(item)).toEqual(['SL4112'])
  })

  it('announces only pools that it has: the name of another cloud may begin with its own', () => {
    const pool = outside('IPAddressPool', 'openstack-ctlplane', own)
    const announce = (name: string) => outside('L2Advertisement', 'openstack-x', { ipAddressPools: [name] })
    expect(findForeignPools([pool, announce('openstack-ctlplane')])).toEqual([])
    expect(codes(findForeignPools([pool, announce('openstack-b-ctlplane')]))).toEqual(['SL4112'])
  })
})

describe('the Secrets of a backup', () => {
  it('are read with the key, and not without it', async () => {
    const { generateIdentity, identityToRecipient } = await import('age-encryption')
    const [key, other] = [await generateIdentity(), await generateIdentity()]
    const sealed = await seal('password', [await identityToRecipient(key)])
    expect(Buffer.from(sealed).toString('latin1')).not.toContain('password')
    expect(Buffer.from(sealed).toString('latin1')).toMatch(/^age-encryption\.org\/v1\n/)
    expect(await unseal(sealed, `# created by age-keygen\n${key}\n`)).toBe('password')
    await expect(unseal(sealed, other)).rejects.toMatchObject({ findings: [{ code: 'SL4113' }] })
    await expect(unseal(sealed, '# empty\n')).rejects.toMatchObject({ findings: [{ code: 'SL4113' }] })
    await expect(unseal(sealed.slice(0, -1), key)).rejects.toMatchObject({ findings: [{ code: 'SL4113' }] })
    await expect(seal('x', ['age1wrong'])).rejects.toMatchObject({ findings: [{ code: 'SL4114' }] })
    await expect(seal('x', [key])).rejects.toSatisfy((failure: Error) => !failure.message.includes(key))
    // A blank before it, as a shell leaves it in quotes.
    await expect(seal('x', [` ${key}`])).rejects.toSatisfy((failure: Error) => !failure.message.includes(key))
  })

  it('are not read with a damaged key, which no message repeats', async () => {
    const { generateIdentity, identityToRecipient } = await import('age-encryption')
    const key = await generateIdentity()
    const sealed = await seal('password', [await identityToRecipient(key)])
    for (const damaged of [key.slice(0, -1), `${key}X`, `x${key}`, `${key} # mine`]) {
      const thrown = await unseal(sealed, damaged).catch((failure: unknown) => failure)
      expect(thrown).toMatchObject({ findings: [{ code: 'SL4113' }] })
      expect(inspect(thrown, { depth: 10 })).not.toContain(key.slice(20, -2))
    }
  })
})

describe('volumes', () => {
  it('are saved by label, and restored without owners', () => {
    const backup = renderVolumeBackup({ name: 'b', namespace: 'openstack', veleroNamespace: 'openshift-adp' })
    expect(backup).toMatchObject({
      metadata: { namespace: 'openshift-adp' },
      spec: { includedNamespaces: ['openstack'], snapshotMoveData: true },
    })
    const [modifiers, restore] = renderVolumeRestore({
      backup: { namespace: 'openshift-adp', name: 'b' },
      namespace: 'openstack',
    })
    expect(restore).toMatchObject({ spec: { backupName: 'b', resourceModifier: { name: modifiers.metadata.name } } })
    expect(JSON.stringify(modifiers)).toContain('ownerReferences')
  })

  it.each([
    [undefined, 'progressing'],
    ['InProgress', 'progressing'],
    ['Completed', 'ready'],
    ['PartiallyFailed', 'failed'],
    ['FailedValidation', 'failed'],
  ])('in phase %s are %s', (phase, kind) => {
    const backup = { ...object('Backup', 'b'), ...(phase !== undefined && { status: { phase } }) }
    expect(veleroReadiness(backup, 'b').kind).toBe(kind)
  })
})
