import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../../api/object.ts'
import { type AnsibleRun, type AnsibleRunSpec, HOSTS_ANNOTATION } from '../kinds/ansible-run.ts'
import { buildRunFiles } from './run-files.ts'
import { type RunInputs, readRunInputs, requiredInputs } from './run-inputs.ts'

function run(spec: AnsibleRunSpec, annotations: Readonly<Record<string, string>> = {}): AnsibleRun {
  return {
    apiVersion: 'ansibleee.openstack.org/v1alpha1',
    kind: 'OpenStackAnsibleEE',
    metadata: { name: 'x', namespace: 'openstack', annotations },
    spec: { play: '- hosts: all', inventory: 'all: {hosts: {a: {}}}', ...spec },
  }
}

function materials(found: Readonly<Record<string, Readonly<Record<string, string>>>>): RunInputs {
  const content = (one: Readonly<Record<string, string>>): ReadonlyMap<string, Buffer> =>
    new Map(Object.entries(one).map(([key, text]) => [key, Buffer.from(text)]))
  return { found: new Map(Object.entries(found).map(([key, one]) => [key, content(one)])), missing: [] }
}

function texts(spec: AnsibleRunSpec, given: RunInputs): Readonly<Record<string, string>> {
  return Object.fromEntries([...buildRunFiles(run(spec), given).files].map(([name, text]) => [name, text.toString()]))
}

const none = materials({})
const mount = (volume: object, place: object): AnsibleRunSpec => ({
  extraMounts: [{ volumes: [{ name: 'v', ...volume }], mounts: [{ name: 'v', mountPath: '/m', ...place }] }],
})
const reasons = (spec: AnsibleRunSpec, given = none): readonly string[] =>
  buildRunFiles(run(spec), given).findings.map(({ message }) => message)

describe('the files of a run', () => {
  it('contain every key of a volume, the listed items, or the one that is mounted as a file', () => {
    const given = materials({ 'Secret s': { a: '1', b: '2' } })
    const secret = { secretName: 's' }
    expect(texts(mount({ secret }, {}), given)).toMatchObject({ 'm/a': '1', 'm/b': '2' })
    const items = [{ key: 'a', path: 'deep/x' }]
    expect(texts(mount({ secret: { ...secret, items } }, {}), given)).toMatchObject({ 'm/deep/x': '1' })
    expect(texts(mount({ secret }, { subPath: 'b', mountPath: '/etc/one' }), given)).toMatchObject({
      'etc/one': '2',
    })
  })

  it('contain a key with a final newline, which OpenSSH requires', () => {
    const given = materials({ 'Secret s': { k: 'key' } })
    const place = { mountPath: '/runner/env/ssh_key', subPath: 'k' }
    expect(texts(mount({ secret: { secretName: 's' } }, place), given)['runner/env/ssh_key']).toBe('key\n')
  })

  it('limit Ansible to the hosts of the attempt', () => {
    const { files } = buildRunFiles(run({ cmdLine: '--tags x' }, { [HOSTS_ANNOTATION]: 'a,b' }), none)
    expect(files.get('runner/env/cmdline')?.toString()).toBe('--tags x --limit a,b')
  })

  it('contain a play built from a role, unless the run has a play', () => {
    const roles = { name: 'R', tasks: [{ name: 't', import_role: { name: 'osp.edpm.edpm_nova' } }] }
    expect(texts({ play: '', roles }, none)['runner/project/playbook.yaml']).toContain('osp.edpm.edpm_nova')
    expect(texts({ play: '- p', roles }, none)['runner/project/playbook.yaml']).toBe('- p')
  })

  it.each([
    ['a path that leaves its folder', mount({ secret: { secretName: 's' } }, { mountPath: '/m/../etc' })],
    ['a relative path', mount({ secret: { secretName: 's' } }, { mountPath: 'm' })],
    ['a volume that needs a pod', mount({ hostPath: { path: '/etc' } }, {})],
    ['a mount of nothing', { extraMounts: [{ volumes: [], mounts: [{ name: 'v', mountPath: '/m' }] }] }],
    ['no play at all', { play: '' }],
    ['a playbook elsewhere', { play: '', playbook: '../other.yaml' }],
    ['no inventory', { inventory: undefined }],
    ['a command of its own', { args: ['sh'] }],
  ])('refuse %s', (_, spec) => {
    expect(reasons(spec as AnsibleRunSpec, materials({ 'Secret s': { a: '1' } }))).toHaveLength(1)
  })

  it('refuse a host name that would be read as an option', () => {
    expect(buildRunFiles(run({}, { [HOSTS_ANNOTATION]: 'a,--tags=all' }), none).findings).toHaveLength(1)
  })

  it('name the key that a Secret does not have', () => {
    const given = materials({ 'Secret s': { other: '1' } })
    const items = [{ key: 'ssh-privatekey', path: 'ssh_key' }]
    const spec = mount({ secret: { secretName: 's', items } }, {})
    expect(reasons(spec, given)).toEqual(['mount of v: Secret s has no key ssh-privatekey'])
  })

  it('redact keys, single values, and what looks like a credential in a file', () => {
    const config = '[DEFAULT]\ntransport_url = rabbit://user:topsecret@host\n[a]\npassword = hidden1\ndebug = True\n'
    const given = materials({
      'Secret s': { config, single: 'S3cret', key: '-----BEGIN X-----\nabc\n' },
      'ConfigMap c': { x: 'known to all' },
    })
    const { secrets } = buildRunFiles(run(mount({ secret: { secretName: 's' } }, {})), given)
    expect(secrets).toEqual(expect.arrayContaining(['topsecret', 'hidden1', 'S3cret']))
    expect(secrets.join()).not.toMatch(/DEFAULT|debug|known to all/)
  })
})

describe('the inputs of a run', () => {
  const stored = (kind: string, name: string, data: Readonly<Record<string, string>>): KubeObject => ({
    apiVersion: 'v1',
    kind,
    metadata: { name },
    data,
  })
  const gather = (objects: readonly KubeObject[], spec: AnsibleRunSpec): Promise<RunInputs> =>
    readRunInputs(
      {
        get: async ({ kind, name }) => objects.find((object) => object.kind === kind && object.metadata.name === name),
      },
      run(spec),
      new AbortController().signal,
    )
  const inventory = mount({ configMap: { name: 'i' } }, { mountPath: '/runner/inventory/hosts' })

  it('take an inventory from the Secret first, then from the ConfigMap', async () => {
    const secret = stored('Secret', 'i', { inventory: Buffer.from('from secret').toString('base64') })
    const map = stored('ConfigMap', 'i', { inventory: 'from map' })
    expect([...(await gather([secret, map], inventory)).found.keys()]).toEqual(['Secret i'])
    expect([...(await gather([map], inventory)).found.keys()]).toEqual(['ConfigMap i'])
  })

  it('list what is missing unless it is optional', async () => {
    expect((await gather([], inventory)).missing).toEqual(['Secret i or ConfigMap i'])
    expect((await gather([], mount({ secret: { secretName: 's', optional: true } }, {}))).missing).toEqual([])
    expect((await gather([], { envConfigMapName: 'common' })).missing).toEqual([])
  })

  it('include values of environment variables from Secrets', () => {
    const env = [{ name: 'X', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }]
    expect(requiredInputs({ env })).toEqual([{ oneOf: [{ kind: 'Secret', name: 's' }], optional: false }])
    expect(buildRunFiles(run({ env }), materials({ 'Secret s': { k: 'v' } })).env).toEqual({ X: 'v' })
    expect(reasons({ env }, materials({ 'Secret s': {} }))).toEqual(['variable X: Secret s has no key k'])
  })
})
