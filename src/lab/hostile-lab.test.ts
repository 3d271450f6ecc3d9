import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { labText, readLabWith, renderTestTree } from '../../test/lab.ts'
import { codes } from '../errors/codes.ts'
import { hasErrors } from '../errors/finding.ts'

/** A hostile file accepts every finding that there is. */
const accept = [...codes].map((code) => ({ code, reason: 'trust me' }))
const read = (changes: Record<string, unknown>) => readLabWith({ ...changes, 'spec.accept': accept })

const optionalTexts = [
  'spec.vm.user',
  'spec.containers.registry',
  'spec.dns.domain',
  'spec.host.storage',
  'spec.terraform.tenantSubnet',
  'spec.networks.management.gateway',
  'spec.networks.tunnel.dhcpEnd',
  'spec.networks.external.floating',
  'spec.networks.external.interface',
  'spec.networks.external.vipInterface',
  'spec.nodes.0.addresses.management',
]

function textPaths(value: unknown, path = ''): readonly string[] {
  if (typeof value === 'string') return [path]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, child]) => textPaths(child, path === '' ? key : `${path}.${key}`))
}

const texts = [...new Set([...textPaths(parse(labText())), ...optionalTexts])].filter(
  (path) => !path.startsWith('spec.accept'),
)

describe('a lab file from elsewhere', () => {
  it.each(texts)('cannot add a line to any file with %s', (path) => {
    const { lab, findings } = read({ [path]: 'kolla\n  ProxyCommand touch /tmp/attacked' })
    expect(lab === undefined || hasErrors(findings)).toBe(true)
  })

  it.each(texts)('cannot leave a word of a script, of Terraform or of a configuration with %s', (path) => {
    const attack = 'x$(touch attacked)\'; touch attacked; \'"; ${file("attacked")}'
    const { lab, findings } = read({ [path]: attack })
    if (!lab || hasErrors(findings)) return
    const files = renderTestTree(lab).filter((file) => !/\.ya?ml$/.test(file.path))
    expect(files.filter((file) => file.text.includes('attacked')).map((file) => file.path)).toEqual([])
  })

  it.each(['../../../x', '/etc/x', 'nova/../../x', '..', 'nova/..', './x', 'a//b', 'x\ny', 'a\\..\\b'])(
    'cannot write the configuration file %j',
    (name) => {
      const { lab, findings } = read({ 'spec.openstack.config': { [name]: 'text' } })
      expect(lab).toBeUndefined()
      expect(findings.map((finding) => finding.code)).toContain('SL1023')
    },
  )

  it('can write configuration files below kolla/config', () => {
    const { lab } = read({ 'spec.openstack.config': { 'nova/nova-compute.conf': 'x', '.a/..b/c@d+e': 'y' } })
    const paths = lab && renderTestTree(lab).map((file) => file.path)
    expect(paths).toContain('kolla/config/.a/..b/c@d+e')
  })

  it.each(['../../../../etc/passwd', 'images/../../../x'])('cannot upload the file %s', (file) => {
    expect(read({ 'spec.terraform.image': { name: 'x', file } }).lab).toBeUndefined()
  })

  it('keeps an expression of Terraform in a file name as text', () => {
    const { lab } = read({ 'spec.terraform.image': { name: '${a}%{b}', file: 'images/${c}"' } })
    const compute = lab && renderTestTree(lab).find((file) => file.path === 'terraform/openstack/compute.tf')?.text
    expect(compute).toContain('"$${a}%%{b}"')
    expect(compute).toContain('"${path.module}/images/$${c}\\""')
  })

  it.each([
    ['a lookup', { globals: { docker_registry: "{{ lookup('pipe', 'touch attacked') }}" } }],
    ['a lookup in a list', { globals: { x: [{ y: "{{ query ('pipe', 'id') }}" }] } }],
    ['a lookup in a filter', { hostVars: { node1: { x: "{{ 1 | default(lookup('pipe', 'id')) }}" } } }],
    ['a lookup after a quoted end', { globals: { x: "{{ '}}' ~ lookup('pipe', 'id') }}" } }],
    ['a lookup after an escaped quote', { globals: { x: "{{ '\\'}}' ~ lookup('pipe', 'id') }}" } }],
    ['a lookup in a block', { config: { 'nova.conf': "{% set x = lookup('pipe', 'id') %}" } }],
    [
      'other delimiters',
      { config: { 'nova.conf': "#jinja2: variable_start_string:'[['\n[[ lookup('pipe', 'id') ]]" } },
    ],
    ['a local connection', { hostVars: { node1: { ansible_connection: 'local' } } }],
    ['a program of ssh', { globals: { ansible_ssh_common_args: '-o ProxyCommand=id' } }],
  ])('cannot run a program by %s', (_, openstack) => {
    const { findings } = read({ 'spec.openstack': openstack })
    expect(findings.filter((finding) => finding.code === 'SL8147' && finding.severity === 'error')).toHaveLength(1)
  })

  it('can use variables and filters', () => {
    const globals = { docker_registry: "{{ kolla_internal_fqdn | default('x') }}:4000" }
    expect(read({ 'spec.openstack': { globals } }).findings.map((finding) => finding.code)).not.toContain('SL8147')
  })
})
