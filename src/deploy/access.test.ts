import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../api/object.ts'
import { indexSnapshot } from '../api/snapshot.ts'
import { addKubeconfigContext, readAccess } from './access.ts'

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

describe('readAccess', () => {
  it("merges the operator's two parts of a clouds.yaml", () => {
    const { entry, ca, authUrl, findings } = access(config, secret, bundle)
    expect(entry).toEqual({ auth: { auth_url: 'https://keystone', username: 'admin', password: 'hidden' } })
    expect([ca, authUrl, findings]).toEqual(['the CA', 'https://keystone', []])
  })

  it('reports what is missing, and never a password', () => {
    const { entry, findings } = access(secret)
    expect(entry).toBeUndefined()
    expect(findings.map(({ code }) => code)).toEqual(['SL4060', 'SL4062'])
    expect(JSON.stringify(findings)).not.toContain('hidden')
  })

  it('reports a clouds.yaml that was edited and has no cloud', () => {
    const { findings } = access({ ...config, data: { 'clouds.yaml': 'clouds: {}' } }, secret, bundle)
    expect(findings.map(({ code }) => code)).toEqual(['SL4061'])
  })

  it('finds the dashboard by its Route, or by its VIP without a Route', () => {
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

describe('addKubeconfigContext', () => {
  const text = '# mine\ncurrent-context: lab\ncontexts:\n- name: lab\n  context: {cluster: lab, user: admin}\n'
  const context = { name: 'rhoso1', cluster: 'lab', user: 'admin', namespace }

  it('adds a context and keeps comments and the current context', () => {
    const result = addKubeconfigContext(text, context)
    expect(result.kind === 'added' && result.text).toMatch(
      /^# mine\ncurrent-context: lab\n[^]*name: rhoso1[^]*namespace: openstack/,
    )
  })

  it('reports an existing equal context', () => {
    const first = addKubeconfigContext(text, context)
    expect(addKubeconfigContext(first.kind === 'added' ? first.text : '', context)).toEqual({ kind: 'exists' })
  })

  it('does not change another context of the same name', () => {
    expect(addKubeconfigContext(text, { ...context, name: 'lab' })).toEqual({ kind: 'taken' })
  })

  it('adds a context to an empty file', () => {
    expect(addKubeconfigContext('', context).kind).toBe('added')
  })
})
