import { describe, expect, it } from 'vitest'
import { checkAnsibleVars, findHiddenOptions } from './ansible-vars.ts'
import { parseIni } from './parse.ts'

const debug = { edpm_ovn_metadata_agent_metadata_agent_DEFAULT_debug: true }

describe('checkAnsibleVars', () => {
  it('recognises service options by the form of the variable name', () => {
    const variables = {
      ...debug,
      edpm_ovn_metadata_agent_metadata_agent_ovn_ovn_sb_connection: 'tcp:[::1]:6642',
      edpm_network_config_template: 'templates/x.j2',
      edpm_sshd_allowed_ranges: ['192.0.2.0/24'],
      timesync_ntp_servers: [{ hostname: 'ntp.example.org' }],
    }
    expect(findHiddenOptions(variables).map(({ section, key, value }) => [section, key, value])).toEqual([
      ['DEFAULT', 'debug', 'true'],
      ['ovn', 'ovn_sb_connection', 'tcp:[::1]:6642'],
    ])
  })

  it('reports the lines that replace them', () => {
    const [found] = checkAnsibleVars(debug, [])
    expect(found).toMatchObject({ code: 'SL7013', severity: 'warning' })
    expect(found?.remedy).toMatch(/customServiceConfig:\n +\[DEFAULT\]\n +debug = true$/)
  })

  it('reports that customServiceConfig wins over the variable', () => {
    const [found] = checkAnsibleVars(debug, parseIni('[DEFAULT]\ndebug = false\n').assignments)
    expect(found?.message).toContain('line 2 of customServiceConfig')
  })

  it('never shows a credential', () => {
    const found = checkAnsibleVars({ edpm_x_DEFAULT_metadata_proxy_shared_secret: 'hunter2' }, [])
    expect(JSON.stringify(found)).not.toContain('hunter2')
  })
})
