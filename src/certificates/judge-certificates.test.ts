import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../api/object.ts'
import { createAuthority } from '../pki/authority.ts'
import { type CertificatesInput, judgeCertificates, judgeLifetime } from './judge-certificates.ts'
import { readManagedCertificate, readRouteCertificate, readSecretCertificate } from './read-certificates.ts'

const DAY = 86_400_000
const NOW = Date.parse('2026-11-17T00:00:00Z')
const authority = await createAuthority({ commonName: 'rootca-internal', days: 3650 }, { now: () => NOW })
const short = await createAuthority({ commonName: 'intermediate', days: 5 }, { now: () => NOW })

async function issue(days: number, from = authority): Promise<string> {
  const { certificate } = await from.issue({
    commonName: 'keystone',
    hosts: ['keystone-internal.openstack.svc'],
    uses: ['server'],
    days,
  })
  return certificate
}

const secret = (name: string, certificate: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'openstack' },
  data: { 'tls.crt': Buffer.from(certificate).toString('base64') },
})
const managed = (secretName: string, renewal: number): KubeObject => ({
  apiVersion: 'cert-manager.io/v1',
  kind: 'Certificate',
  metadata: { name: `${secretName}-cert`, namespace: 'openstack' },
  spec: { secretName, issuerRef: { name: 'rootca-internal' } },
  status: { renewalTime: new Date(renewal).toISOString() },
})

const judge = (secrets: readonly KubeObject[], more: Partial<CertificatesInput> = {}) =>
  judgeCertificates({
    found: secrets.flatMap(readSecretCertificate),
    managed: [],
    outdatedHosts: () => [],
    outdatedPods: () => [],
    now: NOW,
    ...more,
  })

describe('judgeCertificates', () => {
  it('reads subject, issuer, names and end from a Secret', async () => {
    const [state] = judge([secret('cert-keystone', await issue(365))])
    expect(state).toMatchObject({
      name: 'cert-keystone',
      subject: 'keystone',
      issuer: 'rootca-internal',
      hosts: ['keystone-internal.openstack.svc'],
      daysLeft: 365,
      verdict: 'valid',
    })
  })

  it('puts the worst first and warns at 30, 14 and 3 days', async () => {
    const certificate = await issue(100)
    const left = (days: number) => judge([secret('one', certificate)], { now: NOW + (100 - days) * DAY })[0]?.verdict
    expect([90, 30, 14, 3, 0].map(left)).toEqual(['valid', 'due', 'soon', 'critical', 'expired'])
    const both = judge([secret('long', await issue(300)), secret('ends', await issue(100))], { now: NOW + 90 * DAY })
    expect(both.map(({ name }) => name)).toEqual(['ends', 'long'])
  })

  it('counts the certificate of the chain that ends first', async () => {
    const [state] = judge([secret('chain', `${await issue(300, short)}${short.certificate}`)])
    expect(state).toMatchObject({ subject: 'keystone', daysLeft: 5 })
  })

  it('is satisfied before cert-manager renews, and not after that', async () => {
    const secrets = [secret('cert-keystone', await issue(90))]
    const at = (renewal: number) =>
      judge(secrets, { now: NOW + 65 * DAY, managed: [managed('cert-keystone', renewal)].map(readManagedCertificate) })
    expect(at(NOW + 66 * DAY)[0]).toMatchObject({ verdict: 'valid', renewal: '2027-01-22T00:00:00.000Z' })
    expect(at(NOW + 60 * DAY)[0]?.verdict).toBe('due')
  })

  it('does not call a certificate due that lives for a week and is a day old', () => {
    expect(judgeLifetime({ notBefore: NOW, notAfter: NOW + 7 * DAY }, NOW + DAY)).toBe('valid')
    expect(judgeLifetime({ notBefore: NOW, notAfter: NOW + 7 * DAY }, NOW + 5 * DAY)).toBe('critical')
  })

  it('names the hosts with an older copy', async () => {
    const outdatedHosts = (_: string, name: string) => (name === 'cert-nova' ? ['compute-0'] : [])
    const [state] = judge([secret('cert-nova', await issue(90))], { outdatedHosts })
    expect(state?.outdatedHosts).toEqual(['compute-0'])
  })

  it.each(['', 'not a certificate', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'])(
    'says that it cannot read %j',
    (text) => {
      const found = judge([secret('broken', text)])
      expect(found.map(({ verdict }) => verdict)).toEqual(text === '' ? [] : ['unreadable'])
    },
  )

  it('reads the certificate of a Route and skips a Route without one', async () => {
    const certificate = await issue(10)
    const route = (spec: object): KubeObject => ({
      apiVersion: 'route.openshift.io/v1',
      kind: 'Route',
      metadata: { name: 'keystone-public', namespace: 'openstack' },
      spec,
    })
    const found = [route({ tls: { certificate } }), route({ tls: { termination: 'edge' } })].flatMap(
      readRouteCertificate,
    )
    expect(judge([], { found })).toMatchObject([{ kind: 'Route', name: 'keystone-public', daysLeft: 10 }])
  })
})
