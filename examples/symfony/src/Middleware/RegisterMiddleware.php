<?php

declare(strict_types=1);

namespace ReconBatch\Messenger\Middleware;

use Psr\Log\LoggerInterface;
use Psr\Log\NullLogger;
use ReconBatch\Messenger\CurrentOperation;
use ReconBatch\Messenger\Evidence;
use ReconBatch\Messenger\Exception\OperationFailure;
use ReconBatch\Messenger\MessageCodec;
use ReconBatch\Messenger\Register\Claim;
use ReconBatch\Messenger\Register\Register;
use ReconBatch\Messenger\Stamp\NotCalledStamp;
use ReconBatch\Messenger\Stamp\OperationStamp;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Exception\HandlerFailedException;
use Symfony\Component\Messenger\Middleware\MiddlewareInterface;
use Symfony\Component\Messenger\Middleware\StackInterface;
use Symfony\Component\Messenger\Stamp\HandledStamp;
use Symfony\Component\Messenger\Stamp\ReceivedStamp;
use Symfony\Component\Messenger\Transport\Sender\SendersLocatorInterface;

/**
 * Keeps the register of the operations that pass the bus. Where a message is
 * dispatched it writes the row; where it is handled it takes the claim before the
 * handler and writes the evidence after it. Messages without an OperationStamp pass.
 */
final class RegisterMiddleware implements MiddlewareInterface
{
    private readonly LoggerInterface $log;

    /** @param SendersLocatorInterface $senders that of the bus: it tells whether a message is sent or handled now */
    public function __construct(
        private readonly Register $register,
        private readonly MessageCodec $codec,
        private readonly CurrentOperation $current,
        private readonly SendersLocatorInterface $senders,
        ?LoggerInterface $log = null,
    ) {
        $this->log = $log ?? new NullLogger();
    }

    public function handle(Envelope $envelope, StackInterface $stack): Envelope
    {
        $stamp = $envelope->last(OperationStamp::class);
        if (!$stamp instanceof OperationStamp) {
            return $stack->next()->handle($envelope, $stack);
        }
        if (null === $envelope->last(ReceivedStamp::class)) {
            $this->register->open($stamp, $this->codec->encode($envelope));
            foreach ($this->senders->getSenders($envelope) as $sender) {
                return $stack->next()->handle($envelope, $stack);
            }
        }
        $claim = $this->register->claim($stamp);
        if (is_string($claim)) {
            $this->log->warning('Operation {operation} is not called: {reason}.', ['operation' => $stamp->operationId, 'reason' => $claim]);

            return $envelope->with(new NotCalledStamp($claim));
        }

        return $this->call($envelope, $stack, $stamp, $claim);
    }

    private function call(Envelope $envelope, StackInterface $stack, OperationStamp $stamp, Claim $claim): Envelope
    {
        try {
            $envelope = $this->current->during($stamp, static fn (): Envelope => $stack->next()->handle($envelope, $stack));
        } catch (\Throwable $e) {
            [$state, $class, $code] = self::judge($e);
            $this->register->fail($claim, $state, $class, $code);
            throw $e;
        }
        // From here on nothing is a failure of the call: what is thrown leaves the row
        // in processing, which nobody calls again.
        $this->register->succeed($claim, self::evidence($envelope));

        return $envelope;
    }

    private static function evidence(Envelope $envelope): Evidence
    {
        $found = Evidence::accepted();
        foreach ($envelope->all(HandledStamp::class) as $handled) {
            if ($handled instanceof HandledStamp && $handled->getResult() instanceof Evidence) {
                $found = $handled->getResult();
            }
        }

        return $found;
    }

    /** @return array{string, string, string} state, class, code */
    private static function judge(\Throwable $e): array
    {
        $all = [$e];
        $done = [];
        if ($e instanceof HandlerFailedException) {
            $all = array_values($e->getNestedExceptions());
            $done = $e->getEnvelope()->all(HandledStamp::class);
        }
        // Of several handlers one may have had its effect: only a failure that stands
        // alone, and says what it means, is believed.
        if (1 === count($all) && [] === $done && $all[0] instanceof OperationFailure) {
            return [$all[0]->nextState(), $all[0]->errorClass(), $all[0]->errorCode()];
        }

        return ['awaiting_confirmation', 'ambiguous', get_debug_type($all[0] ?? $e)];
    }
}
