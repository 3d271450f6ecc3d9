import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../../api/object.ts'
import { parseIni } from '../../ini/parse.ts'
import { expandReferences } from '../../ini/substitute.ts'
import { defineCloud } from './cloud-definition.ts'
import { haproxyFile, hostsFile, writeScript } from './host-files.ts'
import { serviceFiles } from './service-files.ts'

const controlPlane: KubeObject = {
  apiVersion: 'core.openstack.org/v1beta1',
  kind: 'OpenStackControlPlane',
  metadata: { name: 'controlplane', namespace: 'openstack', labels: { 'stackloom.dev/cloud': 'rhoso1' } },
  spec: { nova: { template: { cellTemplates: { cell0: {}, cell1: {}, edge: {} } } } },
}

function service(name: string, address?: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'openstack' },
    spec: { type: address === undefined ? 'ClusterIP' : 'LoadBalancer' },
    ...(address !== undefined && { status: { loadBalancer: { ingress: [{ ip: address }] } } }),
  }
}

const slot = (path: string, endpoint?: string) => ({
  path: path.split('.'),
  ...(endpoint !== undefined && { endpoint }),
  override: {},
})

const netConfig: KubeObject = {
  apiVersion: 'network.openstack.org/v1beta1',
  kind: 'NetConfig',
  metadata: { name: 'netconfig', namespace: 'openstack' },
  spec: { networks: [{ name: 'internalapi', subnets: [{ cidr: '172.17.0.0/24' }] }] },
}

const encode = (text: string): string => Buffer.from(text).toString('base64')
const secret: KubeObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'osp-secret', namespace: 'openstack' },
  data: { AdminPassword: encode('admin$1'), NovaPassword: encode('nova$1') },
}

function define(tls: boolean, definedBy = controlPlane) {
  return defineCloud({
    controlPlane: definedBy,
    slots: [
      slot('keystone.template', 'internal'),
      slot('keystone.template', 'public'),
      slot('nova.template.apiServiceTemplate', 'internal'),
      slot('nova.template.apiServiceTemplate', 'public'),
      slot('rabbitmq.templates.rabbitmq-cell1'),
      slot('cinder.template.cinderAPI', 'internal'),
    ],
    services: [
      service('keystone-internal', '172.17.0.80'),
      service('keystone-public'),
      service('nova-internal', '172.17.0.80'),
      service('nova-public', '192.0.2.7'),
      service('rabbitmq-cell1', '172.17.0.82'),
      service('cinder-internal', '172.17.0.80'),
    ],
    secret,
    netConfigs: [netConfig],
    domain: 'apps.example.com',
    tls,
  })
}

describe('defineCloud', () => {
  const cloud = define(true)

  it('runs what it can and names what stays simulated', () => {
    expect(cloud).toMatchObject({ cloud: 'rhoso1', services: ['keystone', 'nova'], simulated: ['cinder'] })
    expect(cloud.cells).toEqual(['cell1', 'edge'])
  })

  it('gives the control host the VIPs on the networks of the NetConfig, and the client another address', () => {
    expect(cloud.networks).toEqual([
      {
        name: 'internalapi',
        prefixLength: 24,
        addresses: ['172.17.0.80', '172.17.0.82'],
        clientAddress: '172.17.0.254',
      },
      { name: 'vips1', prefixLength: 24, addresses: ['192.0.2.7'], clientAddress: '192.0.2.254' },
    ])
  })

  it('reaches a Service without a VIP by its Route', () => {
    expect(cloud.routes).toEqual([{ host: 'keystone-public-openstack.apps.example.com', localPort: 5000 }])
    expect(cloud.catalogue).toEqual([
      {
        service: 'keystone',
        type: 'identity',
        urls: {
          internal: 'https://keystone-internal.openstack.svc:5000',
          public: 'https://keystone-public-openstack.apps.example.com',
        },
      },
      {
        service: 'nova',
        type: 'compute',
        urls: {
          internal: 'https://nova-internal.openstack.svc:8774/v2.1',
          public: 'https://nova-public.openstack.svc:8774/v2.1',
        },
      },
    ])
  })

  it('serves the message bus with TLS on its own port, and without TLS everything in clear', () => {
    const queue = (tls: boolean) => define(tls).frontends.find(({ mode }) => mode === 'tcp')
    expect(queue(true)).toEqual({ address: '172.17.0.82', port: 5671, localPort: 5672, mode: 'tcp' })
    expect(queue(false)?.port).toBe(5672)
    expect(define(false).catalogue[0]?.urls['internal']).toBe('http://keystone-internal.openstack.svc:5000')
    expect(haproxyFile(define(false)).text).not.toContain('ssl')
  })
})

describe('files of a control host', () => {
  const cloud = define(true)
  const files = serviceFiles(cloud, { database: 'db', messageBus: 'bus', keys: ['a', 'b'] })
  const text = (name: string): string => files.find((file) => file.path === name)?.text ?? ''

  it('bind every VIP with the certificate, and the router of Routes', () => {
    const config = haproxyFile(cloud).text
    expect(config).toContain('bind 172.17.0.80:5000 ssl crt /etc/haproxy/stackloom.pem')
    expect(config).toContain('bind 172.17.0.82:5671 ssl')
    expect(config).toContain(
      'use_backend local-5000 if { hdr(host),field(1,:) -i keystone-public-openstack.apps.example.com }',
    )
  })

  it('give each cell of nova its own database and virtual host', () => {
    expect(text('/etc/nova/nova.conf.d/50-stackloom.conf')).toContain('mysql+pymysql://nova:db@127.0.0.1/nova_cell0\n')
    const edge = text('/etc/nova/edge.conf.d/50-stackloom.conf')
    expect(edge).toContain('mysql+pymysql://nova:db@127.0.0.1/nova_edge\n')
    expect(edge).toContain('rabbit://openstack:bus@127.0.0.1:5672/edge\n')
  })

  it('escape what oslo.config would replace in a password, and are readable by their service only', () => {
    expect(text('/etc/nova/nova.conf.d/50-stackloom.conf')).toContain('password = nova$$1\n')
    const script = writeScript(files)
    expect(script).toContain('chown root:nova /etc/nova/nova.conf.d/50-stackloom.conf\nchmod 0640')
    // After a backslash, two dollar signs would be an escaped one and a reference.
    const passwords = { ...cloud.passwords, NovaPassword: 'a\\$b$$c' }
    const written = serviceFiles({ ...cloud, passwords }, { database: 'db', messageBus: 'bus', keys: ['a', 'b'] })
    const nova = written.find((file) => file.path === '/etc/nova/nova.conf.d/50-stackloom.conf')?.text ?? ''
    const password = parseIni(nova).assignments.find(({ key }) => key === 'password')?.value ?? ''
    expect(expandReferences(password, () => undefined)).toEqual({ kind: 'value', value: 'a\\$b$$c' })
  })

  it('have exactly their text, whatever it is, and run nothing of it', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-files-'))
    const hostile = `END\n$(touch ${folder}/attacked)\n\`id\`\nSTACKLOOM_END_OF_FILE\ntouch ${folder}/attacked\n`
    const file = path.join(folder, "a 'b")
    execFileSync('sh', ['-s'], { input: writeScript([{ path: file, text: hostile }]) })
    expect(readFileSync(file, 'utf8')).toBe(hostile)
    expect(() => readFileSync(path.join(folder, 'attacked'))).toThrow('ENOENT')
    rmSync(folder, { recursive: true })
  })

  it('have no line of a password, and no cell whose name is a path or a line', () => {
    const passwords = { ...cloud.passwords, NovaPassword: 'a\n[DEFAULT]\ncompute_driver = other' }
    const written = serviceFiles({ ...cloud, passwords }, { database: 'db', messageBus: 'bus', keys: ['a', 'b'] })
    for (const { text: lines } of written) expect(lines).not.toMatch(/^compute_driver|^password = .*\n\[DEFAULT\]/m)
    const cellTemplates = { cell1: {}, '../../etc': {}, 'a\nb': {}, 'x; DROP DATABASE nova': {} }
    const hostile = { ...controlPlane, spec: { nova: { template: { cellTemplates } } } }
    expect(define(true, hostile).cells).toEqual(['cell1'])
  })

  it('resolve names of Services without a VIP to the host itself', () => {
    expect(hostsFile('control', cloud.names).text).toContain('127.0.0.1 keystone-public.openstack.svc\n')
    expect(hostsFile('control', cloud.names).text).toContain('172.17.0.80 keystone-internal.openstack.svc\n')
  })
})
