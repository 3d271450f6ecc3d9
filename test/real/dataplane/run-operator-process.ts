/** Runs the run controller as a separate process, for tests that kill it: `KUBECONFIG FOLDER ENTER…`. */
import { connect } from '../../../src/kube/connect.ts'
import { operateRuns } from './run-operator.ts'

const [, , kubeconfig = '', folder = '', ...enter] = process.argv
const { client } = await connect({ kubeconfig, env: process.env })
await operateRuns({ client, folder, enter }, new AbortController().signal)
