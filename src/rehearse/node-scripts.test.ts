import { describe, expect, it } from 'vitest'
import { testPlan } from '../../test/plan.ts'
import { differingLines } from './apply-policies.ts'
import { kernelSettings } from './kernel-settings.ts'
import { encodeRequest, parseAnswer } from './machine/agent.ts'
import { machineArgs } from './machine/machine-args.ts'
import { applyScript, cniError, identityScript, probeScript, shellScript } from './node-scripts.ts'

describe('the scripts of a node', () => {
  it('forward packets, as the cluster does, and have the kernel settings of the site', () => {
    const settings = kernelSettings(testPlan({ nodes: 2 }))
    expect(settings).toContain('net.ipv4.ip_forward=1')
    expect(settings).toContain('net.ipv4.conf.all.arp_ignore=1')
    const elsewhere = kernelSettings(testPlan({ nodes: 2, platform: 'kubernetes' }))
    expect(elsewhere).toEqual(settings)
    const script = identityScript({
      name: 'worker-0',
      now: 1_800_000_000_000,
      nics: [{ name: 'enp6s0', mac: '52:54:00:5c:00:00', port: 'n0p0' }],
      settings,
      addressed: [{ nic: { name: 'cluster0', mac: '52:54:00:5d:00:00', port: 'n0c' }, address: '198.18.0.10/24' }],
    })
    expect(script).toContain('net.ipv4.ip_forward=1')
    expect(script).toContain('date -s @1800000000 ')
    expect(script.indexOf('mtu 1500 up')).toBeLessThan(script.indexOf('ip address add 198.18.0.10/24 dev cluster0'))
    expect(script.indexOf('name enp6s0')).toBeLessThan(script.indexOf('systemctl start NetworkManager'))
  })

  it('pass a policy and tests without interpreting them', () => {
    const script = applyScript({ interfaces: [{ name: '$(reboot)' }] })
    expect(script).toContain('<<\\END\n{"interfaces":[{"name":"$(reboot)"}]}\nEND\n')
    expect(probeScript({ name: 'openstack-ctlplane' }, ['arp,172.17.0.31', "x';reboot"])).toContain(`'x'\\'';reboot'`)
  })

  it('open a shell of the size of the terminal, in which Ctrl-C ends a program', () => {
    const script = shellScript({ rows: 50, columns: 120 })
    expect(script).toContain('rows 50 cols 120')
    expect(script).toContain('--default-signal=INT,QUIT bash -i')
    expect(shellScript({ rows: 0, columns: 0 })).toContain('rows 24 cols 80')
  })

  it('report the message of a CNI plugin', () => {
    const output = '{\n  "code": 999,\n  "msg": "failed to lookup master \\"enp6s0.20\\": Link not found"\n}'
    expect(cniError(output)).toBe('failed to lookup master "enp6s0.20": Link not found')
    expect(cniError('sh: 2: not found\n')).toBe('sh: 2: not found')
  })

  it('compare the state before and after a second apply line by line', () => {
    expect(differingLines('a\nb\n', 'a\nc\n')).toEqual(['- b', '+ c'])
  })
})

describe('the agent of a node', () => {
  it('answers with code and output, and ignores half lines', () => {
    expect(encodeRequest('7', 'echo a\n')).toBe('7 ZWNobyBhCg==')
    expect(parseAnswer('7 1 YQo=')).toEqual({ id: '7', code: 1, output: 'a\n' })
    expect(parseAnswer('bG9uZyBvdXRwdXQ=')).toBeUndefined()
  })
})

describe('the command line of QEMU', () => {
  const files = { kernel: '/c/vmlinuz', initrd: '/c/initrd', disk: '/c/a,b.qcow2' }
  const sockets = { agent: '/run/a', qmp: '/run/q', console: '/run/c', log: '/run/l' }

  it('restores a saved machine without changing its disk', () => {
    const args = machineArgs({ ...files, accelerator: 'tcg', sockets, writable: false, restoreFrom: "/c/it's" })
    expect(args).toContain('file=/c/a,,b.qcow2,if=virtio,format=qcow2,snapshot=on')
    expect(args.slice(args.indexOf('-incoming'))).toEqual(['-incoming', `exec:cat '/c/it'\\''s'`])
  })

  it('has no NIC before one is plugged in', () => {
    const args = machineArgs({ ...files, accelerator: 'kvm', sockets, writable: true })
    expect(args.join(' ')).not.toContain('virtio-net')
    expect(args).not.toContain('-incoming')
  })
})
