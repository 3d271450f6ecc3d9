/** Runs an operator as a separate process, for tests that kill it: `tsx operator-process.ts KUBECONFIG`. */

import { processIo } from '../../../src/cli/io.ts'
import { runCommand } from '../../../src/cli/operator/run.ts'

const [, , kubeconfig = ''] = process.argv
const options = { kubeconfig, webhookPort: 0, healthPort: 0, bind: '127.0.0.1', leaderElection: false }
process.exitCode = await runCommand(options, processIo())
