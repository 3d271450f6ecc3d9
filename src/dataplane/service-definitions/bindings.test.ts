import { describe, expect, it } from 'vitest'
import { checkIni } from '../../ini/check.ts'
import { nodeServices } from './all.ts'
import { novaService } from './nova.ts'
import { ovnMetadataService } from './ovn-metadata.ts'

const codes = (text: string, { binding }: Pick<typeof novaService, 'binding'>): readonly string[] =>
  checkIni(text, { binding }).map((finding) => `${finding.code} ${/^line (\d+)/.exec(finding.message)?.[1]}`)

describe('the options that customServiceConfig must not set', () => {
  it('are those that bind a compute node to its cell, with a warning for credentials', () => {
    const text =
      '[DEFAULT]\ntransport_url = rabbit://x\nhost = y\n[PLACEMENT]\npassword = p\n[api_database]\nconnection = z\n'
    expect(codes(text, novaService)).toEqual(['SL7010 2', 'SL7010 3', 'SL7011 5', 'SL7010 7'])
  })

  it('are those that bind the metadata agent to its cloud', () => {
    expect(codes('[ovn]\novn_sb_connection = tcp:x\n', ovnMetadataService)).toEqual(['SL7010 2'])
  })

  it.each(nodeServices)('are with a warning those by which a run sees that $name is up', (service) => {
    const text =
      '[DEFAULT]\nlog_file = /var/log/x\nuse_stderr = false\nlog_config_append = /etc/x\ndefault_log_levels =\n'
    expect(codes(text, service)).toEqual(['SL7011 3', 'SL7011 4', 'SL7011 5'])
  })
})
