<?php

declare(strict_types=1);

namespace ReconBatch\Tests;

use ReconBatch\Messenger\Evidence;
use ReconBatch\Messenger\Exception\DifferentOperation;
use ReconBatch\Messenger\Exception\NotRegistered;
use ReconBatch\Messenger\Exception\NotSent;
use ReconBatch\Messenger\Exception\OutcomeUnknown;
use ReconBatch\Messenger\Exception\Refused;
use ReconBatch\Messenger\Exception\TooEarly;
use ReconBatch\Messenger\Stamp\NotCalledStamp;
use ReconBatch\Messenger\Stamp\OperationStamp;
use ReconBatch\Tests\App\Charge;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Exception\HandlerFailedException;
use Symfony\Component\Messenger\Exception\RecoverableExceptionInterface;
use Symfony\Component\Messenger\Exception\UnrecoverableExceptionInterface;
use Symfony\Component\Messenger\Handler\HandlerDescriptor;
use Symfony\Component\Messenger\Stamp\HandledStamp;

final class RegisterMiddlewareTest extends RegisterCase
{
    private int $calls = 0;

    /** A handler that counts its calls, then does what it is given. */
    private function handler(callable $do): callable
    {
        return function (object $message) use ($do) {
            ++$this->calls;

            return $do($message);
        };
    }

    private function dispatched(): void
    {
        $this->bus()->dispatch(new Charge('order-1', 4500, 'EUR'), [self::stamp()]);
    }

    public function testDispatchWritesTheRowAndCallsNobody(): void
    {
        $this->handlers = [$this->handler(static fn () => null)];
        $this->dispatched();
        self::assertSame(0, $this->calls);
        self::assertCount(1, $this->transport->getSent());
        $this->assertRow(['state' => 'pending', 'attempts' => 0, 'idempotency_key' => 'key-op-1', 'type' => 'charge', 'entity' => 'order-1',
            'version' => 1, 'amount_minor' => 4500, 'currency' => 'EUR', 'created_at' => '2026-11-29T10:00:00.000000Z', 'lease_until' => null]);
    }

    public function testRowIsCommittedBeforeTheCall(): void
    {
        $seen = null;
        $this->handlers = [$this->handler(function () use (&$seen): void {
            $other = $this->connect(); // what another process sees while the call runs
            $seen = $other->query('SELECT state, attempts, last_attempt_at, lease_until, lease_holder FROM recon_operation')->fetch(\PDO::FETCH_ASSOC);
        })];
        $this->dispatched();
        $this->clock->set('2026-11-29T10:01:00Z');
        $this->bus()->dispatch(self::received(self::stamp()));
        self::assertSame('processing', $seen['state']);
        self::assertSame(1, (int) $seen['attempts']);
        self::assertSame('2026-11-29T10:01:00.000000Z', $seen['last_attempt_at']);
        self::assertSame('2026-11-29T10:06:00.000000Z', $seen['lease_until']);
        self::assertMatchesRegularExpression('~^test/[0-9a-f]{16}$~', $seen['lease_holder']);
    }

    /** @dataProvider evidence */
    public function testEvidence(mixed $answer, string $state, ?string $remoteId): void
    {
        $this->handlers = [$this->handler(static fn () => $answer)];
        $this->dispatched();
        $this->bus()->dispatch(self::received(self::stamp()));
        $this->assertRow(['state' => $state, 'remote_id' => $remoteId, 'error_class' => 'none', 'lease_until' => null, 'lease_holder' => null]);
        self::assertSame(1, $this->number('SELECT count(*) FROM recon_evidence WHERE attempt = 1 AND late = 0'));
    }

    public static function evidence(): array
    {
        return [
            'accepted' => [Evidence::accepted('ch_1'), 'awaiting_confirmation', 'ch_1'],
            'confirmed' => [Evidence::confirmed('ch_1'), 'confirmed', 'ch_1'],
            'nothing said' => [null, 'awaiting_confirmation', null],
        ];
    }

    /** @dataProvider failures */
    public function testFailure(\Throwable $failure, string $state, string $class, string $code): void
    {
        $this->handlers = [$this->handler(static fn () => throw $failure)];
        $this->dispatched();
        try {
            $this->bus()->dispatch(self::received(self::stamp()));
            self::fail('the failure did not reach the worker');
        } catch (HandlerFailedException $e) {
            self::assertSame([$failure], array_values($e->getNestedExceptions()));
        }
        $this->assertRow(['state' => $state, 'error_class' => $class, 'error_code' => $code, 'remote_id' => null, 'lease_until' => null,
            'first_failed_at' => '2026-11-29T10:00:00.000000Z', 'last_failed_at' => '2026-11-29T10:00:00.000000Z']);
    }

    public static function failures(): array
    {
        return [
            'time-out' => [new OutcomeUnknown('timeout'), 'awaiting_confirmation', 'transient', 'timeout'],
            'not sent' => [new NotSent('connection_refused'), 'retry_scheduled', 'transient', 'connection_refused'],
            'refused' => [new Refused('do_not_honour'), 'manual_review', 'permanent', 'do_not_honour'],
            'anything' => [new \DomainException('x'), 'awaiting_confirmation', 'ambiguous', 'DomainException'],
            'a bug' => [new \TypeError('x'), 'awaiting_confirmation', 'ambiguous', 'TypeError'],
        ];
    }

    public function testOnlyARequestThatWasNotSentIsCalledAgain(): void
    {
        $failure = new NotSent();
        $this->handlers = [$this->handler(static function () use (&$failure) { throw $failure; })];
        $this->dispatched();
        foreach ([new NotSent(), new OutcomeUnknown(), new OutcomeUnknown()] as $n => $failure) {
            $this->clock->set(sprintf('2026-11-29T10:0%d:00Z', $n));
            try {
                $end = $this->bus()->dispatch(self::received(self::stamp()));
            } catch (HandlerFailedException) {
            }
        }
        self::assertSame(2, $this->calls);
        self::assertSame('outcome_unknown', $end->last(NotCalledStamp::class)->reason);
        $this->assertRow(['attempts' => 2, 'first_failed_at' => '2026-11-29T10:00:00.000000Z', 'last_failed_at' => '2026-11-29T10:01:00.000000Z',
            'first_attempt_at' => '2026-11-29T10:00:00.000000Z', 'last_attempt_at' => '2026-11-29T10:01:00.000000Z']);
    }

    /** @dataProvider closed */
    public function testNotCalled(array $columns, string $reason): void
    {
        $this->handlers = [$this->handler(static fn () => null)];
        $this->given($columns);
        $before = $this->row();
        $end = $this->bus()->dispatch(self::received(self::stamp()));
        self::assertSame($reason, $end->last(NotCalledStamp::class)?->reason);
        self::assertNull($end->last(HandledStamp::class));
        self::assertSame(0, $this->calls);
        self::assertSame($before, $this->row());
    }

    public static function closed(): array
    {
        return [
            'another worker calls' => [['state' => 'processing', 'lease_until' => '2026-11-29T10:00:01.000000Z'], 'in_progress'],
            'its lease is over' => [['state' => 'processing', 'lease_until' => '2026-11-29T10:00:00.000000Z'], 'lease_expired'],
            'awaiting' => [['state' => 'awaiting_confirmation'], 'outcome_unknown'],
            'confirmed' => [['state' => 'confirmed'], 'confirmed'],
            'a person' => [['state' => 'manual_review'], 'manual_review'],
            'closed' => [['state' => 'not_applicable'], 'not_applicable'],
            'compensated' => [['state' => 'compensated'], 'compensated'],
            'a state that nobody knows' => [['state' => 'strange'], 'strange'],
            'the proof has expired' => [['state' => 'retry_scheduled', 'not_after' => '2026-11-29T10:00:00.000000Z'], 'expired'],
        ];
    }

    public function testTooEarlyIsDeliveredAgain(): void
    {
        $this->handlers = [$this->handler(static fn () => null)];
        $this->given(['state' => 'retry_scheduled', 'next_attempt_at' => '2026-11-29T10:00:00.000001Z']);
        try {
            $this->bus()->dispatch(self::received(self::stamp()));
            self::fail('it was called');
        } catch (TooEarly $e) {
            self::assertInstanceOf(RecoverableExceptionInterface::class, $e);
        }
        $this->clock->set('2026-11-29T10:00:00.000001Z');
        $this->bus()->dispatch(self::received(self::stamp()));
        self::assertSame(1, $this->calls);
    }

    public function testUnknownOperationIsNotCalled(): void
    {
        $this->handlers = [$this->handler(static fn () => null)];
        try {
            $this->bus()->dispatch(self::received(self::stamp()));
            self::fail('it was called');
        } catch (NotRegistered) {
            self::assertSame(0, $this->calls);
        }
    }

    /** @dataProvider others */
    public function testAnIdStandsForOneOperation(OperationStamp $other): void
    {
        $this->handlers = [$this->handler(static fn () => null)];
        $this->dispatched();
        foreach ([new Envelope(new Charge('order-1', 1, 'EUR'), [$other]), self::received($other)] as $envelope) {
            try {
                $this->bus()->dispatch($envelope);
                self::fail('it passed');
            } catch (DifferentOperation $e) {
                self::assertInstanceOf(UnrecoverableExceptionInterface::class, $e);
            }
        }
        self::assertSame(0, $this->calls);
        self::assertCount(1, $this->transport->getSent());
    }

    public static function others(): array
    {
        return [
            'key' => [new OperationStamp('op-1', 'key-2', 'charge', 'order-1', 1, 4500, 'EUR')],
            'type' => [new OperationStamp('op-1', 'key-op-1', 'refund', 'order-1', 1, 4500, 'EUR')],
            'entity' => [new OperationStamp('op-1', 'key-op-1', 'charge', 'order-2', 1, 4500, 'EUR')],
            'amount' => [new OperationStamp('op-1', 'key-op-1', 'charge', 'order-1', 1, 4501, 'EUR')],
            'currency' => [new OperationStamp('op-1', 'key-op-1', 'charge', 'order-1', 1, 4500, 'USD')],
            'no version' => [new OperationStamp('op-1', 'key-op-1', 'charge', 'order-1', null, 4500, 'EUR')],
        ];
    }

    public function testOneKeyCannotServeTwoOperations(): void
    {
        $this->dispatched();
        $this->expectException(\PDOException::class);
        $this->bus()->dispatch(new Charge('order-1', 4500, 'EUR'), [new OperationStamp('op-2', 'key-op-1', 'charge', 'order-1', 1, 4500, 'EUR')]);
    }

    public function testACallInsideATransactionIsRefused(): void
    {
        $this->handlers = [$this->handler(static fn () => null)];
        $this->dispatched();
        $this->db->beginTransaction();
        try {
            $this->bus()->dispatch(self::received(self::stamp()));
            self::fail('it was called');
        } catch (\LogicException $e) {
            self::assertStringContainsString('transaction', $e->getMessage());
        }
        $this->db->rollBack();
        self::assertSame(0, $this->calls);
    }

    public function testTheRowGoesWithTheTransactionOfTheBusiness(): void
    {
        $this->db->beginTransaction();
        $this->dispatched();
        $this->db->rollBack();
        self::assertNull($this->registerOf()->find('op-1'));
    }

    public function testWithoutATransportItIsHandledAtOnce(): void
    {
        $this->handlers = [$this->handler(static fn () => Evidence::confirmed('ch_1'))];
        for ($i = 0; $i < 2; ++$i) {
            $this->bus(async: false)->dispatch(new Charge('order-1', 4500, 'EUR'), [self::stamp()]);
        }
        self::assertSame(1, $this->calls);
        $this->assertRow(['state' => 'confirmed', 'attempts' => 1]);
    }

    public function testTheHandlerGetsTheKeyOfTheRegister(): void
    {
        $key = null;
        $this->handlers = [$this->handler(function () use (&$key): void { $key = $this->current->get()->idempotencyKey; })];
        $this->dispatched();
        $this->bus()->dispatch(self::received(self::stamp()));
        self::assertSame('key-op-1', $key);
        $this->expectException(\LogicException::class);
        $this->current->get();
    }

    public function testOfTwoHandlersOneMayHaveHadItsEffect(): void
    {
        $this->handlers = [$this->handler(static fn () => Evidence::accepted('ch_1')), new HandlerDescriptor(static fn () => throw new NotSent(), ['alias' => 'second'])];
        $this->dispatched();
        try {
            $this->bus()->dispatch(self::received(self::stamp()));
        } catch (HandlerFailedException) {
        }
        $this->assertRow(['state' => 'awaiting_confirmation', 'error_class' => 'ambiguous']);
    }

    public function testLateSuccessCallsThePlannedAttemptOff(): void
    {
        $this->handlers = [$this->handler(function () {
            // The call hangs; its lease ends, a run proves the effect absent, a requeue is applied.
            $this->db->exec("UPDATE recon_operation SET state = 'retry_scheduled', lease_until = NULL, lease_holder = NULL");

            return Evidence::accepted('ch_late');
        })];
        $this->dispatched();
        $this->bus()->dispatch(self::received(self::stamp()));
        $this->assertRow(['state' => 'awaiting_confirmation', 'remote_id' => 'ch_late']);
        self::assertSame(1, $this->number("SELECT count(*) FROM recon_evidence WHERE late = 1 AND remote_id = 'ch_late'"));
    }

    public function testLateFailureChangesNothing(): void
    {
        $this->handlers = [$this->handler(function () {
            $this->db->exec("UPDATE recon_operation SET state = 'confirmed', lease_until = NULL, lease_holder = NULL");
            throw new NotSent();
        })];
        $this->dispatched();
        try {
            $this->bus()->dispatch(self::received(self::stamp()));
        } catch (HandlerFailedException) {
        }
        $this->assertRow(['state' => 'confirmed', 'error_class' => null]);
        self::assertSame(1, $this->number('SELECT count(*) FROM recon_evidence WHERE late = 1'));
    }

    public function testMessagesWithoutStampPass(): void
    {
        $this->handlers = [$this->handler(static fn () => null)];
        $this->bus()->dispatch(new \stdClass());
        self::assertSame(1, $this->calls);
        self::assertSame(0, $this->number('SELECT count(*) FROM recon_operation'));
    }

    public function testOfEightWorkersOneCalls(): void
    {
        $this->given([]);
        $said = $this->atOnce(8, function (\PDO $db): string {
            $claim = $this->registerOf($db)->claim(self::stamp());

            return is_string($claim) ? $claim : 'claimed';
        });
        self::assertSame(['claimed', ...array_fill(0, 7, 'in_progress')], $said);
        $this->assertRow(['attempts' => 1]);
    }

    /** @dataProvider badStamps */
    public function testBadStamp(callable $make): void
    {
        $this->expectException(\InvalidArgumentException::class);
        $make();
    }

    public static function badStamps(): array
    {
        return [
            'no id' => [static fn () => new OperationStamp('', 'k', 't', 'e')],
            'blank at the end' => [static fn () => new OperationStamp('a ', 'k', 't', 'e')],
            'line end in the key' => [static fn () => new OperationStamp('a', "k\nk", 't', 'e')],
            'too long' => [static fn () => new OperationStamp(str_repeat('a', 191), 'k', 't', 'e')],
            'amount alone' => [static fn () => new OperationStamp('a', 'k', 't', 'e', 1, 1)],
            'currency alone' => [static fn () => new OperationStamp('a', 'k', 't', 'e', 1, null, 'EUR')],
            'no currency code' => [static fn () => new OperationStamp('a', 'k', 't', 'e', 1, 1, 'euro')],
        ];
    }
}
