import { describe, expect, it } from 'vitest'
import { effectiveConfig as effective } from '../../../test/effective-config.ts'
import { type ComputeFacts, NOVA_OVERRIDE, renderComputeConfig } from './nova-config.ts'

const facts: ComputeFacts = {
  transportUrl: 'rabbit://user:pa$$word@rabbitmq-cell1.openstack.svc:5671/?ssl=1',
  keystoneAuthUrl: 'https://keystone-internal.openstack.svc:5000',
  serviceUser: 'nova',
  servicePassword: 'S3cr$et',
  host: 'edpm-compute-0',
  myIp: '192.168.122.100',
}

describe('The configuration of nova-compute', () => {
  it('binds the node to its cell by the transport URL, exactly as the Secret has it', () => {
    expect(effective(renderComputeConfig(facts))['DEFAULT.transport_url']).toBe(facts.transportUrl)
  })

  it('has a password wherever it has a user name, dollar signs included', () => {
    const values = effective(renderComputeConfig(facts))
    const users = Object.keys(values).filter((key) => key.endsWith('.username'))
    expect(users).toHaveLength(6)
    for (const user of users) {
      expect(values[user]).toBe('nova')
      expect(values[user.replace('.username', '.password')]).toBe('S3cr$et')
    }
  })

  it('keeps customServiceConfig byte for byte, and lets it win', () => {
    const custom = '[DEFAULT]\ndebug = True\n[libvirt]\ncpu_mode=host-passthrough\n# a comment\r\n\n'
    const made = renderComputeConfig(facts, custom)
    expect(made.kind === 'files' && made.files[NOVA_OVERRIDE]).toBe(custom)
    expect(effective(made)).toMatchObject({
      'DEFAULT.debug': 'True',
      'libvirt.cpu_mode': 'host-passthrough',
    })
  })

  it('logs to the journal that nova-compute is up, beside a log file of customServiceConfig', () => {
    const values = effective(renderComputeConfig(facts, '[DEFAULT]\nlog_file = /var/log/nova.log\n'))
    expect(values).toMatchObject({ 'DEFAULT.use_stderr': 'true', 'DEFAULT.log_file': '/var/log/nova.log' })
    expect(values['DEFAULT.default_log_levels']?.split(',')).toEqual(
      expect.arrayContaining(['nova.service=DEBUG', 'sqlalchemy=WARN', 'oslo_messaging=INFO']),
    )
  })

  it('has an override file even without customServiceConfig', () => {
    const made = renderComputeConfig(facts)
    expect(made.kind === 'files' && made.files[NOVA_OVERRIDE]).toBe('')
  })

  it('enables consoles only where the cell has a proxy', () => {
    expect(effective(renderComputeConfig(facts))['vnc.enabled']).toBe('false')
    const consoleUrl = 'https://nova-novncproxy-cell1/vnc_lite.html'
    expect(effective(renderComputeConfig({ ...facts, consoleUrl }))).toMatchObject({
      'vnc.enabled': 'true',
      'vnc.novncproxy_base_url': consoleUrl,
      'vnc.server_proxyclient_address': '192.168.122.100',
    })
  })

  it('refuses a credential that cannot be written to a file', () => {
    const made = renderComputeConfig({ ...facts, servicePassword: 'a\r\nb' })
    expect(made.kind === 'refused' && made.findings.map(({ code }) => code)).toContain('SL7012')
  })
})
