<?php

declare(strict_types=1);

namespace ReconBatch\Messenger;

use ReconBatch\Messenger\Stamp\OperationStamp;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Exception\MessageDecodingFailedException;
use Symfony\Component\Messenger\Transport\Serialization\SerializerInterface;

/** The message as the register keeps it: what the transport's serializer makes of it, as JSON. */
final class MessageCodec
{
    public function __construct(private readonly SerializerInterface $serializer)
    {
    }

    public function encode(Envelope $envelope): string
    {
        $plain = Envelope::wrap($envelope->getMessage(), array_values($envelope->all(OperationStamp::class)));

        return json_encode($this->serializer->encode($plain), \JSON_THROW_ON_ERROR | \JSON_UNESCAPED_SLASHES | \JSON_UNESCAPED_UNICODE);
    }

    /** @throws MessageDecodingFailedException where the class of the message is gone or the text is broken */
    public function decode(string $text): Envelope
    {
        try {
            $encoded = json_decode($text, true, 512, \JSON_THROW_ON_ERROR);
        } catch (\JsonException $e) {
            throw new MessageDecodingFailedException('The message that the register holds is no JSON.', 0, $e);
        }

        return $this->serializer->decode($encoded);
    }
}
