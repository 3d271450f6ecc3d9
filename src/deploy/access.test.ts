import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../api/object.ts'
import { indexSnapshot } from '../api/snapshot.ts'
import { addKubeconfigContext } from './access/kubeconfig-context.ts'
import { readAccess } from './access.ts'

const namespace = 'openstack'
const encoded = (text: string): string => Buffer.from(text).toString('base64')
const config: KubeObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'openstack-config', namespace },
  data: {
    'clouds.yaml': 'clouds:\n  default:\n    auth:\n      auth_url: https://keystone\n      username: admin\n',
  },
}
const secret: KubeObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'openstack-config-secret', namespace },
  data: { 'secure.yaml': encoded('clouds:\n  default:\n    auth:\n      password: hidden\n') },
}
const bundle: KubeObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'combined-ca-bundle', namespace },
  data: { 'tls-ca-bundle.pem': encoded('the CA') },
}
const access = (...objects: readonly KubeObject[]) =>
  readAccess('rhoso1', namespace, indexSnapshot({ objects, unread: [] }))

describe('access', () => {
  it("is the operator's two halves of a clouds.yaml in one", () => {
    const { entry, ca, authUrl, findings } = access(config, secret, bundle)
    expect(entry).toEqual({ auth: { auth_url: 'https://keystone', username: 'admin', password: 'hidden' } })
    expect([ca, authUrl, findings]).toEqual(['the CA', 'https://keystone', []])
  })

  it('names what is missing, and never a password', () => {
    const { entry, findings } = access(secret)
    expect(entry).toBeUndefined()
    expect(findings.map(({ code }) => code)).toEqual(['SL4060', 'SL4062'])
    expect(JSON.stringify(findings)).not.toContain('hidden')
  })

  it('says so when somebody has broken what the operator wrote', () => {
    const { findings } = access({ ...config, data: { 'clouds.yaml': 'clouds: {}' } }, secret, bundle)
    expect(findings.map(({ code }) => code)).toEqual(['SL4061'])
  })

  it('finds the dashboard by its Route first, by its VIP where there is none', () => {
    const route = {
      apiVersion: 'route.openshift.io/v1',
      kind: 'Route',
      metadata: { name: 'horizon', namespace },
      spec: { host: 'horizon-openstack.apps.example.com' },
    }
    const service = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'horizon', namespace },
      status: { loadBalancer: { ingress: [{ ip: 'fd00::80' }] } },
    }
    expect(access(service, route).dashboard).toBe('https://horizon-openstack.apps.example.com')
    expect(access(service).dashboard).toBe('https://[fd00::80]')
    expect(access().dashboard).toBeUndefined()
  })
})

describe('a context more', () => {
  const text = '# mine\ncurrent-context: lab\ncontexts:\n- name: lab\n  context: {cluster: lab, user: admin}\n'
  const wanted = { name: 'rhoso1', cluster: 'lab', user: 'admin', namespace }

  it('is added beside the others; comments and the current one stay', () => {
    const result = addKubeconfigContext(text, wanted)
    expect(result.kind === 'added' && result.text).toMatch(
      /^# mine\ncurrent-context: lab\n[^]*name: rhoso1[^]*namespace: openstack/,
    )
  })

  it('is there already after the first time', () => {
    const first = addKubeconfigContext(text, wanted)
    expect(addKubeconfigContext(first.kind === 'added' ? first.text : '', wanted)).toEqual({ kind: 'there' })
  })

  it('never takes the name of another one', () => {
    expect(addKubeconfigContext(text, { ...wanted, name: 'lab' })).toEqual({ kind: 'taken' })
  })

  it('is the first one in a file without any', () => {
    expect(addKubeconfigContext('', wanted).kind).toBe('added')
  })
})
