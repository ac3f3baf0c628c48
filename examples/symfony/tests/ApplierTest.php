<?php

declare(strict_types=1);

namespace ReconBatch\Tests;

use ReconBatch\Messenger\Apply\Applier;
use ReconBatch\Messenger\Apply\Result;
use ReconBatch\Messenger\Stamp\OperationStamp;
use ReconBatch\Messenger\Stamp\RequeueStamp;
use ReconBatch\Tests\App\Charge;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\MessageBusInterface;
use Symfony\Component\Messenger\Stamp\DelayStamp;
use Symfony\Component\Messenger\Stamp\ReceivedStamp;

final class ApplierTest extends RegisterCase
{
    /** Row of an operation whose call timed out, and the item that a run makes of it. */
    private function timedOut(array $columns = []): void
    {
        $this->given($columns + ['state' => 'awaiting_confirmation', 'attempts' => 1, 'error_class' => 'transient']);
        $this->clock->set('2026-11-30T04:10:00Z');
    }

    private static function requeue(array $with = []): array
    {
        return $with + [
            'schema_version' => 1, 'hidden' => false, 'recheck_key' => 'key-op-1', 'proof_valid_until' => null,
            'item_id' => 'item-1', 'run_id' => 'run-1', 'queue' => 'requeue', 'operation_id' => 'op-1', 'idempotency_key' => 'key-op-1',
            'version' => '1', 'class' => 'absent', 'reason' => 'no_result', 'expected_state' => 'awaiting_confirmation', 'next_state' => 'retry_scheduled',
            'attempts' => 1, 'next_attempt_at' => '2026-11-30T04:00:31.224000Z', 'expires_at' => '2026-12-01T22:00:00Z',
            'approvals' => 0, 'observe_only' => false, 'deferred' => false,
        ];
    }

    private function applier(?\PDO $db = null, ?MessageBusInterface $bus = null): Applier
    {
        return new Applier($db ?? $this->db, $bus ?? $this->bus(), $this->codec, $this->clock);
    }

    public function testRequeueDispatchesTheSameMessageUnderTheSameKey(): void
    {
        $this->timedOut();
        self::assertSame(Result::Applied, $this->applier()->apply(self::requeue()));
        $this->assertRow(['state' => 'retry_scheduled', 'attempts' => 1, 'next_attempt_at' => '2026-11-30T04:00:31.224000Z', 'not_after' => '2026-12-01T22:00:00.000000Z']);
        [$sent] = $this->transport->getSent();
        self::assertEquals(new Charge('order-1', 4500, 'EUR'), $sent->getMessage());
        self::assertEquals(self::stamp(), $sent->last(OperationStamp::class));
        self::assertEquals(new RequeueStamp('item-1', 'run-1'), $sent->last(RequeueStamp::class));
        self::assertNull($sent->last(DelayStamp::class));

        $calls = 0;
        $this->handlers = [static function () use (&$calls): void { ++$calls; }];
        $this->bus()->dispatch($sent->with(new ReceivedStamp('t')));
        self::assertSame(1, $calls);
        $this->assertRow(['state' => 'awaiting_confirmation', 'attempts' => 2, 'not_after' => null]);
    }

    public function testTheNextAttemptIsWaitedFor(): void
    {
        $this->timedOut();
        $this->applier()->apply(self::requeue(['next_attempt_at' => '2026-11-30T04:10:01.500001Z']));
        [$sent] = $this->transport->getSent();
        self::assertSame(1501, $sent->last(DelayStamp::class)->getDelay());
    }

    public function testTwiceMovesAndSendsOnce(): void
    {
        $this->timedOut();
        self::assertSame(Result::Applied, $this->applier()->apply(self::requeue()));
        self::assertSame(Result::AlreadyApplied, $this->applier()->apply(self::requeue()));
        self::assertCount(1, $this->transport->getSent());
        // The call fails once more, and the old item comes a third time.
        $this->db->exec("UPDATE recon_operation SET state = 'awaiting_confirmation'");
        self::assertSame(Result::AlreadyApplied, $this->applier()->apply(self::requeue()));
        self::assertCount(1, $this->transport->getSent());
        $this->assertRow(['state' => 'awaiting_confirmation']);
    }

    /** @dataProvider refusals */
    public function testRefusedItemsChangeNothing(Result $want, array $item, array $row = []): void
    {
        $this->timedOut($row);
        $before = $this->row();
        self::assertSame($want, $this->applier()->apply(self::requeue($item)));
        self::assertSame($before, $this->row());
        self::assertSame([], $this->transport->getSent());
        self::assertSame(0, $this->number("SELECT count(*) FROM recon_inbox WHERE result = 'applied'"));
    }

    public static function refusals(): array
    {
        return [
            'expired' => [Result::Expired, ['expires_at' => '2026-11-30T04:10:00Z']],
            'the proof has expired' => [Result::Expired, ['proof_valid_until' => '2026-11-30T04:10:00Z']],
            'a form of tomorrow' => [Result::UnknownForm, ['schema_version' => 2]],
            'no form' => [Result::UnknownForm, ['schema_version' => null]],
            'redacted' => [Result::Hidden, ['hidden' => true]],
            'not said whether redacted' => [Result::Hidden, ['hidden' => null]],
            'a condition about another key' => [Result::Incomplete, ['recheck_key' => 'key-2']],
            'no condition' => [Result::Incomplete, ['recheck_key' => null]],
            'observed only' => [Result::ObserveOnly, ['observe_only' => true]],
            'not said whether observed' => [Result::ObserveOnly, ['observe_only' => null]],
            'deferred' => [Result::Deferred, ['deferred' => true]],
            'approvals' => [Result::NeedsApproval, ['approvals' => 2]],
            'compensate' => [Result::NotForUs, ['queue' => 'compensate']],
            'review' => [Result::NotForUs, ['queue' => 'review']],
            'a queue of tomorrow' => [Result::NotForUs, ['queue' => 'replay']],
            'no key' => [Result::Incomplete, ['idempotency_key' => null]],
            'no expiry' => [Result::Incomplete, ['expires_at' => null]],
            'no attempts' => [Result::Incomplete, ['attempts' => null]],
            'no expected state' => [Result::Incomplete, ['expected_state' => '']],
            'no next attempt' => [Result::Incomplete, ['next_attempt_at' => null]],
            'unknown operation' => [Result::UnknownOperation, ['operation_id' => 'op-2']],
            'other key' => [Result::OtherKey, ['idempotency_key' => 'key-2', 'recheck_key' => 'key-2']],
            'other version' => [Result::OtherVersion, [], ['version' => 2]],
            'version in the item alone' => [Result::OtherVersion, [], ['version' => null]],
            'version in the row alone' => [Result::OtherVersion, ['version' => null]],
            'confirmed meanwhile' => [Result::OtherState, [], ['state' => 'confirmed']],
            'scheduled by another item' => [Result::AlreadyDone, [], ['state' => 'retry_scheduled']],
            'called meanwhile, same state again' => [Result::OtherAttempts, [], ['attempts' => 2]],
            'a result came in' => [Result::HasResult, [], ['remote_id' => 'ch_1']],
            'somebody is calling' => [Result::LiveLease, ['expected_state' => 'processing'], ['state' => 'processing', 'lease_until' => '2026-11-30T04:10:00.000001Z']],
            'no message left' => [Result::NoMessage, [], ['message' => null]],
        ];
    }

    public function testTheOwnerOfAnExpiredLeaseIsGone(): void
    {
        $this->timedOut(['state' => 'processing', 'lease_until' => '2026-11-30T04:10:00.000000Z', 'lease_holder' => 'dead']);
        self::assertSame(Result::Applied, $this->applier()->apply(self::requeue(['expected_state' => 'processing'])));
        $this->assertRow(['state' => 'retry_scheduled', 'lease_holder' => null]);
    }

    public function testAMessageThatTheBrokerLostIsSentOnceMore(): void
    {
        $this->timedOut(['state' => 'retry_scheduled']);
        self::assertSame(Result::Applied, $this->applier()->apply(self::requeue(['expected_state' => 'retry_scheduled'])));
        self::assertCount(1, $this->transport->getSent());
    }

    public function testARefusedItemIsJudgedAnewByALaterRunAlone(): void
    {
        $this->timedOut(['state' => 'processing']);
        self::assertSame(Result::OtherState, $this->applier()->apply(self::requeue()));
        $this->db->exec("UPDATE recon_operation SET state = 'awaiting_confirmation'");
        self::assertSame(Result::OtherState, $this->applier()->apply(self::requeue()), 'the result that was stored');
        self::assertSame(Result::Applied, $this->applier()->apply(self::requeue(['run_id' => 'run-2'])));
        self::assertSame(Result::AlreadyApplied, $this->applier()->apply(self::requeue(['run_id' => 'run-3'])));
        self::assertCount(1, $this->transport->getSent());
    }

    public function testAWithdrawnItemIsNotApplied(): void
    {
        $this->timedOut();
        $this->applier()->withdraw('run-1', 'item-1');
        $this->applier()->withdraw('run-1', 'item-1');
        self::assertSame(Result::Withdrawn, $this->applier()->apply(self::requeue()));
        $this->assertRow(['state' => 'awaiting_confirmation']);
        self::assertSame(Result::Applied, $this->applier()->apply(self::requeue(['run_id' => 'run-2'])), 'a later run proposes it again');
    }

    public function testACrashBeforeTheDispatchIsMadeGood(): void
    {
        $this->timedOut();
        $broken = new class() implements MessageBusInterface {
            public function dispatch($message, array $stamps = []): Envelope
            {
                throw new \RuntimeException('the broker is down');
            }
        };
        try {
            $this->applier(bus: $broken)->apply(self::requeue());
            self::fail('nobody heard of it');
        } catch (\RuntimeException) {
        }
        $this->assertRow(['state' => 'retry_scheduled']);
        self::assertSame(Result::AlreadyApplied, $this->applier()->apply(self::requeue()));
        self::assertCount(1, $this->transport->getSent());
        self::assertSame(Result::AlreadyApplied, $this->applier()->apply(self::requeue()));
        self::assertCount(1, $this->transport->getSent());
    }

    public function testWhatWasConfirmedMeanwhileIsNotDispatchedLater(): void
    {
        $this->timedOut(['state' => 'retry_scheduled']);
        $this->db->exec("INSERT INTO recon_inbox (item_id, run_id, queue, operation_id, result, applied_at) VALUES ('item-1', 'run-1', 'requeue', 'op-1', 'applied', '')");
        foreach (["state = 'confirmed'", "state = 'retry_scheduled', attempts = 2"] as $change) {
            $this->db->exec('UPDATE recon_operation SET '.$change);
            self::assertSame(Result::AlreadyApplied, $this->applier()->apply(self::requeue()));
            self::assertSame([], $this->transport->getSent());
        }
    }

    public function testOfEightAtOnceOneApplies(): void
    {
        $this->timedOut();
        $said = $this->atOnce(8, fn (\PDO $db): string => $this->applier($db)->apply(self::requeue())->value);
        self::assertSame([...array_fill(0, 7, 'already_applied'), 'applied'], $said);
        self::assertSame(1, $this->number('SELECT count(*) FROM recon_inbox'));
    }

    public function testTwoItemsOfOneOperationMoveItOnce(): void
    {
        $this->timedOut();
        $said = $this->atOnce(8, fn (\PDO $db): string => $this->applier($db)->apply(self::requeue(['item_id' => 'item-'.getmypid()]))->value);
        self::assertSame([...array_fill(0, 7, 'already_done'), 'applied'], $said);
    }

    /** @dataProvider confirmable */
    public function testConfirm(string $state, Result $want): void
    {
        $this->timedOut(['state' => $state, 'not_after' => '2026-12-01T22:00:00.000000Z']);
        $item = ['item_id' => 'item-2', 'run_id' => 'run-1', 'queue' => 'confirm', 'operation_id' => 'op-1', 'idempotency_key' => 'key-op-1', 'version' => '1',
            'remote_id' => 'ch_1', 'expected_state' => 'awaiting_confirmation', 'next_state' => 'confirmed', 'observe_only' => false, 'schema_version' => 1, 'hidden' => false];
        self::assertSame($want, $this->applier()->apply($item));
        if (Result::Applied === $want) {
            $this->assertRow(['state' => 'confirmed', 'remote_id' => 'ch_1', 'not_after' => null]);
        } else {
            $this->assertRow(['state' => $state, 'remote_id' => null]);
        }
    }

    /** @dataProvider othersToConfirm */
    public function testConfirmOfSomethingElse(Result $want, array $with): void
    {
        $this->timedOut();
        self::assertSame($want, $this->applier()->apply($with + ['item_id' => 'item-2', 'run_id' => 'run-1', 'queue' => 'confirm', 'operation_id' => 'op-1',
            'idempotency_key' => 'key-op-1', 'version' => '1', 'next_state' => 'confirmed', 'observe_only' => false, 'schema_version' => 1, 'hidden' => false]));
        $this->assertRow(['state' => 'awaiting_confirmation']);
        self::assertSame(0, $this->number("SELECT count(*) FROM recon_inbox WHERE result = 'applied'"));
    }

    public static function othersToConfirm(): array
    {
        return [
            'other version' => [Result::OtherVersion, ['version' => '2']],
            'no version' => [Result::OtherVersion, ['version' => null]],
            'other key' => [Result::OtherKey, ['idempotency_key' => 'key-2']],
            'no key' => [Result::Incomplete, ['idempotency_key' => null]],
            'observed only' => [Result::ObserveOnly, ['observe_only' => true]],
            'another operation' => [Result::UnknownOperation, ['operation_id' => 'op-2']],
        ];
    }

    public static function confirmable(): array
    {
        return [
            'awaiting' => ['awaiting_confirmation', Result::Applied],
            'a planned attempt is called off' => ['retry_scheduled', Result::Applied],
            'the worker died' => ['processing', Result::Applied],
            'confirmed' => ['confirmed', Result::AlreadyDone],
            'compensated' => ['compensated', Result::OtherState],
            'closed' => ['not_applicable', Result::OtherState],
        ];
    }

    public function testAConfirmedOperationIsNotCalledByAMessageThatComesLate(): void
    {
        $this->timedOut();
        $this->applier()->apply(self::requeue());
        $this->applier()->apply(['item_id' => 'item-2', 'run_id' => 'run-2', 'queue' => 'confirm', 'operation_id' => 'op-1', 'idempotency_key' => 'key-op-1',
            'version' => '1', 'next_state' => 'confirmed', 'observe_only' => false, 'schema_version' => 1, 'hidden' => false]);
        $calls = 0;
        $this->handlers = [static function () use (&$calls): void { ++$calls; }];
        $this->bus()->dispatch($this->transport->getSent()[0]->with(new ReceivedStamp('t')));
        self::assertSame(0, $calls);
    }

    public function testClose(): void
    {
        $this->timedOut(['state' => 'pending', 'attempts' => 0]);
        $item = ['item_id' => 'item-4', 'run_id' => 'run-1', 'queue' => 'close', 'operation_id' => 'op-1', 'version' => '1', 'reason' => 'never_sent',
            'expected_state' => 'pending', 'next_state' => 'not_applicable', 'attempts' => 0, 'approvals' => null, 'observe_only' => false, 'deferred' => false, 'schema_version' => 1, 'hidden' => false];
        self::assertSame(Result::OtherAttempts, $this->applier()->apply(['attempts' => 1, 'run_id' => 'run-2'] + $item));
        $this->given(['remote_id' => 'ch_1']);
        self::assertSame(Result::HasResult, $this->applier()->apply(['run_id' => 'run-3'] + $item));
        $this->given(['remote_id' => null, 'lease_until' => '2026-11-30T04:10:00.000001Z']);
        self::assertSame(Result::LiveLease, $this->applier()->apply(['run_id' => 'run-4'] + $item));
        $this->given(['lease_until' => null]);
        self::assertSame(Result::Applied, $this->applier()->apply($item));
        $this->assertRow(['state' => 'not_applicable', 'closing_reason' => 'never_sent']);
    }
}
