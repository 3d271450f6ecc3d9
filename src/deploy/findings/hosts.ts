/** SL4105 to SL4109: deploying hosts that are behind or failed. */
import { problem } from '../../errors/finding.ts'

export const hostsNeedConsent = problem<{ hosts: number }>({
  code: 'SL4105',
  severity: 'error',
  message: ({ hosts }) => `Ansible would run on ${hosts} ${hosts === 1 ? 'host' : 'hosts'}, and this was not confirmed`,
  remedy: () => 'run the same command on a terminal and confirm, or with --yes',
})
