/** Runs an operator as a separate process, for tests that kill it: `tsx operator-process.ts KUBECONFIG [OPTIONS as JSON]`. */

import { processIo } from '../../../src/cli/io.ts'
import { runCommand } from '../../../src/cli/operator/run.ts'

const [, , kubeconfig = '', changes = '{}'] = process.argv
const options = {
  kubeconfig,
  webhookPort: 0,
  healthPort: 0,
  bind: '127.0.0.1',
  leaderElection: false,
  ...JSON.parse(changes),
}
process.exitCode = await runCommand(options, processIo())
