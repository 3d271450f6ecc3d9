import { describe, expect, it } from 'vitest'
import type { RunDecision } from '../runs/decide-step.ts'
import { decisionCondition, deploymentCondition } from './node-status.ts'
import type { StepState } from './phase-zero.ts'

const stepWith = (decision: RunDecision): StepState => ({
  step: { kind: 'runnable', name: 'nova', label: 'nova', playbook: 'nova' },
  hash: 'x',
  decision,
})

describe('a step whose run makes no progress', () => {
  const decision = { kind: 'running', run: 'nova-1', why: 'node worker-1 does not answer (SL7510: …)' } as const
  const message = 'nova-1 makes no progress: node worker-1 does not answer (SL7510: …)'

  it('is a warning of the step and of the deployment, with the reason', () => {
    expect(decisionCondition('nova service ready', 'nova', decision)).toMatchObject({ severity: 'Warning', message })
    expect(deploymentCondition([stepWith(decision)])).toMatchObject({ severity: 'Warning', message })
  })

  it('is in progress again when the reason is gone', () => {
    const condition = deploymentCondition([stepWith({ kind: 'running', run: 'nova-1' })])
    expect(condition).toMatchObject({ severity: 'Info', message: 'Deployment in progress' })
  })
})
