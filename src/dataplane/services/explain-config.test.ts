import { describe, expect, it } from 'vitest'
import { findHiddenOptions } from '../../ini/ansible-vars.ts'
import { renderComputeConfig } from '../service-definitions/nova-config.ts'
import { explainConfig } from './explain-config.ts'

const made = renderComputeConfig(
  {
    transportUrl: 'rabbit://nova:tops3cret@rabbitmq-cell1:5671',
    keystoneAuthUrl: 'https://keystone:5000',
    serviceUser: 'nova',
    servicePassword: 'tops3cret',
    host: 'edpm-compute-0',
    myIp: '192.168.122.100',
  },
  '[libvirt]\ncpu_mode = host-passthrough\n[vnc]\nserver_listen = $my_ip\n[pci]\nalias = a\nalias = b\n',
)
const files = made.kind === 'files' ? made.files : {}
const explained = explainConfig(files)
const option = (section: string, name: string) =>
  explained.find((explainedOption) => explainedOption.section === section && explainedOption.option === name)

describe('explainConfig', () => {
  it('names the file and line of every value and of the values that it overrides', () => {
    expect(option('libvirt', 'cpu_mode')).toEqual({
      section: 'libvirt',
      option: 'cpu_mode',
      values: [{ value: 'host-passthrough', from: '02-nova-override.conf:2' }],
      overridden: [{ value: 'host-model', from: expect.stringMatching(/^01-nova\.conf:\d+$/) }],
    })
  })

  it('expands references', () => {
    expect(option('vnc', 'server_listen')?.values[0]?.value).toBe('192.168.122.100')
  })

  it('shows every value of a multi-valued option', () => {
    expect(option('pci', 'alias')?.values.map(({ value }) => value)).toEqual(['a', 'b'])
  })

  it('shows Ansible variables as overridden by a file, or alone where no file sets the option', () => {
    const hidden = findHiddenOptions({
      edpm_nova_compute_DEFAULT_host: 'other',
      edpm_nova_compute_DEFAULT_debug: true,
      edpm_nova_compute_DEFAULT_admin_password: 'tops3cret',
    })
    const all = explainConfig(files, hidden)
    const named = (name: string) =>
      all.find((explainedOption) => explainedOption.section === 'DEFAULT' && explainedOption.option === name)
    expect(named('host')).toMatchObject({
      values: [{ value: 'edpm-compute-0' }],
      overridden: [{ value: 'other', from: 'ansibleVars: edpm_nova_compute_DEFAULT_host' }],
    })
    expect(named('debug')?.values).toEqual([{ value: 'true', from: 'ansibleVars: edpm_nova_compute_DEFAULT_debug' }])
    expect(JSON.stringify(all)).not.toContain('tops3cret')
  })

  it('redacts credentials', () => {
    expect(JSON.stringify(explained)).not.toContain('tops3cret')
    expect(option('DEFAULT', 'transport_url')?.values[0]?.value).toBe('rabbit://nova:***@rabbitmq-cell1:5671')
  })
})
