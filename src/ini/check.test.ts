import { describe, expect, it } from 'vitest'
import { controlPlaneBindingRules } from './binding.ts'
import { checkIni } from './check.ts'
import { parseIni } from './parse.ts'

function codes(text: string, settings: Parameters<typeof checkIni>[1] = {}): readonly string[] {
  return checkIni(text, settings).map((finding) => `${finding.code} ${/^line (\d+)/.exec(finding.message)?.[1]}`)
}

describe('checkIni', () => {
  it('reports nothing for a valid snippet', () => {
    const text = `# tuned
[DEFAULT]
debug = True
default_log_levels = amqp=WARN,
    sqlalchemy=WARN
[libvirt]
cpu_mode = custom
[pci]
alias = {"name": "gpu", "device_type": "type-PCI"}
alias = {"name": "nic"}
[vnc]
server_proxyclient_address = $my_ip
server_listen = "::0"
`
    expect(checkIni(text, { binding: controlPlaneBindingRules })).toEqual([])
    expect(checkIni('')).toEqual([])
  })

  it.each([
    ['a line without =', '[DEFAULT]\ndebug\n', ['SL7001 2']],
    ['an option without a section', 'debug = true\n', ['SL7001 1']],
    ['a section that is not closed', '[DEFAULT] # c\n', ['SL7001 1']],
    ['a byte order mark', '\ufeff[DEFAULT]\n', ['SL7001 1']],
    ['an indented snippet', '  [DEFAULT]\n  debug = true\n', ['SL7002 1']],
    ['[default]', '[default]\ndebug = true\n', ['SL7003 1']],
    ['a space inside the brackets', '[ libvirt ]\n', ['SL7003 1']],
    ['a capital option name', '[DEFAULT]\nDebug = true\n', ['SL7004 2']],
    ['an option name with a space', '[DEFAULT]\nexport debug = true\n', ['SL7004 2']],
    ['a $ that refers to nothing', '[DEFAULT]\nname = a$bc\n', ['SL7005 2']],
    ['a comment behind a value', '[DEFAULT]\ndebug = true # now\n', ['SL7006 2']],
    ['an indented comment', '[DEFAULT]\ndebug = true\n  # now\n', ['SL7006 3']],
    ['an indented option', '[DEFAULT]\ndebug = true\n  host = x\n', ['SL7007 3']],
    ['half a quote', '[DEFAULT]\nlog_dir = "/var/log\n', ['SL7008 2']],
    ['two quoted words', '[DEFAULT]\na = "x" "y"\n', ['SL7008 2']],
    ['an option set twice', '[DEFAULT]\na = 1\nb = 2\na = 3\n', ['SL7009 4']],
    [
      'several at once, in the order of the lines',
      'x\n[default]\nA = $b\n',
      ['SL7001 1', 'SL7003 2', 'SL7004 3', 'SL7005 3'],
    ],
  ])('reports %s', (_, text, expected) => {
    expect(codes(text)).toEqual(expected)
  })

  it('rejects options that bind a service to its cloud, and warns of credentials', () => {
    const text =
      '[DEFAULT]\ntransport_url = rabbit://x\nhost = y\n[PLACEMENT]\npassword = p\n[api_database]\nconnection = z\n'
    expect(codes(text, { binding: controlPlaneBindingRules })).toEqual(['SL7010 2', 'SL7011 3', 'SL7011 5', 'SL7010 7'])
  })

  it('lets $ refer to options of this file or a generated one', () => {
    const generated = parseIni('[vnc]\nport = 6080\n').assignments
    expect(codes('[DEFAULT]\na = 1\nb = $a ${vnc.port}\n', { generated })).toEqual([])
  })

  it('locates each finding where the caller says that its line is', () => {
    const [found] = checkIni('[default]\n', {
      where: (line) => ({ file: 'site.yaml', line: line + 10, column: 7 }),
    })
    expect(found?.where).toEqual({ file: 'site.yaml', line: 11, column: 7 })
  })

  it('never shows a credential', () => {
    const text = `password: hunter2
[DEFAULT]
transport_url rabbit://nova hunter2 rabbit://nova:hunter2@host
password = "hunter2
metadata_proxy_shared_secret = a$hunter2
db = mysql://u:hunter2@h/db # x
  [hunter2
`
    expect(JSON.stringify(checkIni(text, { binding: controlPlaneBindingRules }))).not.toMatch(
      /rabbit:\/\/nova:hunter2|= "?hunter2|\$hunter2|u:hunter2/,
    )
  })
})
